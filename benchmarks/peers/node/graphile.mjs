// graphile-worker with what its documentation names as fastest: a local queue and batched completion.
import { makeWorkerUtils, run, runMigrations } from "graphile-worker";
import pg from "pg";
import { milliseconds, ready, report, sleep } from "./talk.mjs";

const [, , step, url, count, every] = process.argv;
const pgPool = new pg.Pool({ connectionString: url, max: 20 });
const quiet = { pgPool, logger: undefined };
const fast = {
  worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0, concurrentJobs: 24, pollInterval: 2000, maxPoolSize: 20 },
};

if (step === "prepare") {
  await runMigrations({ pgPool });
  await pgPool.query(
    "select graphile_worker.add_jobs(array(select json_populate_record(null::graphile_worker.job_spec, '{\"identifier\":\"noop\"}') from generate_series(1, $1)))",
    [Number(count)],
  );
  process.exit(0);
} else if (step === "drain") {
  await ready();
  await run({ pgPool, preset: fast, noHandleSignals: true, taskList: { noop: async () => {} } });
} else if (step === "latency") {
  await runMigrations({ pgPool });
  const started = new Map();
  const utils = await makeWorkerUtils({ pgPool });
  await run({
    pgPool,
    noHandleSignals: true,
    concurrency: 10,
    preset: { worker: { pollInterval: 2000 } },
    taskList: { noop: async ({ n }) => { started.set(n, milliseconds()); } },
  });
  await sleep(1000);
  await ready();
  const committed = new Map();
  for (let n = 0; n < Number(count); n++) {
    await utils.addJob("noop", { n });
    committed.set(n, milliseconds());
    await sleep(Number(every));
  }
  await sleep(1000);
  report([...committed].map(([n, at]) => started.get(n) - at));
  process.exit(0);
}
