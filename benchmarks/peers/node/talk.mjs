// How a peer talks to the benchmark: "ready" on stdout, then waits for a line on stdin.
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

export async function ready() {
  console.log("ready");
  await lines.next();
}

export function report(result) {
  console.log(JSON.stringify(result));
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

export function milliseconds() {
  return Number(process.hrtime.bigint()) / 1e6;
}
