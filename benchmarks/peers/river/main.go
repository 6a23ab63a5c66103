// River with what its documentation names as fastest: many workers, a short fetch cooldown, batched completion.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type noopArgs struct {
	N int `json:"n"`
}

func (noopArgs) Kind() string { return "noop" }

type noopWorker struct {
	river.WorkerDefaults[noopArgs]
	entered func(n int)
}

func (w *noopWorker) Work(_ context.Context, job *river.Job[noopArgs]) error {
	if w.entered != nil {
		w.entered(job.Args.N)
	}
	return nil
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	must(err)
	return value
}

func ready() {
	fmt.Println("ready")
	_, err := bufio.NewReader(os.Stdin).ReadString('\n')
	must(err)
}

func main() {
	ctx := context.Background()
	step, url := os.Args[1], os.Args[2]
	pool, err := pgxpool.New(ctx, url)
	must(err)
	worker := &noopWorker{}
	workers := river.NewWorkers()
	river.AddWorker(workers, worker)
	maxWorkers := 2000
	if step == "latency" {
		maxWorkers = 100
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Logger:            slog.New(slog.NewTextHandler(io.Discard, nil)),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: maxWorkers}},
		Workers:           workers,
		FetchCooldown:     time.Millisecond,
		FetchPollInterval: 50 * time.Millisecond,
	})
	must(err)
	switch step {
	case "prepare":
		migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
		must(err)
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
		must(err)
		for left := number(os.Args[3]); left > 0; left -= 10000 {
			jobs := make([]river.InsertManyParams, min(left, 10000))
			for i := range jobs {
				jobs[i].Args = noopArgs{}
			}
			_, err = client.InsertManyFast(ctx, jobs)
			must(err)
		}
	case "drain":
		ready()
		must(client.Start(ctx))
		select {}
	case "latency":
		latency(ctx, client, worker, number(os.Args[3]), time.Duration(number(os.Args[4]))*time.Millisecond)
	}
}

func latency(ctx context.Context, client *river.Client[pgxTx], worker *noopWorker, count int, every time.Duration) {
	var guard sync.Mutex
	entered := map[int]time.Time{}
	worker.entered = func(n int) {
		now := time.Now()
		guard.Lock()
		entered[n] = now
		guard.Unlock()
	}
	must(client.Start(ctx))
	time.Sleep(time.Second)
	ready()
	committed := make([]time.Time, count)
	for n := range count {
		_, err := client.Insert(ctx, noopArgs{N: n}, nil)
		must(err)
		committed[n] = time.Now()
		time.Sleep(every)
	}
	time.Sleep(time.Second)
	result := make([]float64, 0, count)
	guard.Lock()
	for n, at := range committed {
		result = append(result, float64(entered[n].Sub(at).Nanoseconds())/1e6)
	}
	guard.Unlock()
	must(json.NewEncoder(os.Stdout).Encode(result))
}
