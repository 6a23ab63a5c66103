// pg-boss as its authors drain fastest: fetch and complete in batches of ten thousand.
import PgBoss from "pg-boss";
import { ready } from "./talk.mjs";

const [, , step, url, count] = process.argv;
const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
await boss.start();

if (step === "prepare") {
  await boss.createQueue("noop");
  const all = Array.from({ length: Number(count) }, () => ({ name: "noop" }));
  for (let from = 0; from < all.length; from += 10000) await boss.insert(all.slice(from, from + 10000));
  process.exit(0);
} else if (step === "drain") {
  await ready();
  const handler = async () => {};
  for (;;) {
    const jobs = await boss.fetch("noop", { batchSize: 10000 });
    if (jobs.length === 0) continue;
    await handler(jobs);
    await boss.complete("noop", jobs.map((job) => job.id));
  }
}
