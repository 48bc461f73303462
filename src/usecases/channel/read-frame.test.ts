import { expect, test } from "bun:test";
import { cpuTimer } from "../../../testkit/cpu-time.ts";
import { readFrame } from "./read-frame.ts";

test.each([
  ["values within values", "[".repeat(3_000_000)],
  ["more values than any request has", `[${"[],".repeat(1_000_000)}[]]`],
  [
    "more keys than any request has",
    `{${Array.from({ length: 2_000_000 }, (_, at) => `"${at.toString(36)}":1`).join(",")}}`,
  ],
  ["text that is no JSON", "}{"],
])("%s are refused without being parsed", async (_, text) => {
  const [before, computed] = [process.memoryUsage.rss(), cpuTimer()];
  expect(await readFrame(text)).toMatchObject({ ok: false, refusal: { field: "frame" } });
  expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 2 ** 20);
  expect(computed()).toBeLessThan(2_000);
});

test("brackets within texts are texts", async () => {
  const request = { to: "a", subject: "s", body: '["\\{[[['.repeat(100_000) };
  expect(await readFrame(JSON.stringify({ name: "mail.send", request }))).toMatchObject({ ok: true });
});
