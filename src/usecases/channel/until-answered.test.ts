import { expect, test } from "bun:test";
import { untilAnswered, type Waiting } from "./until-answered.ts";

/** A world in which only sleeping takes time; `counters` says what the change counter is at a time. */
function world(counter: (at: number) => number | undefined) {
  let at = 0;
  const sleeps: number[] = [];
  const waiting: Waiting = {
    changeCounter: async () => counter(at),
    now: () => at,
    sleep: async (ms) => {
      sleeps.push(ms);
      at += ms;
    },
  };
  return { waiting, sleeps, now: () => at };
}

/** Asks at these times, until the answer is there at `answeredAt`. */
async function timesAsked(counter: (at: number) => number | undefined, answeredAt: number) {
  const { waiting, sleeps, now } = world(counter);
  const asked: number[] = [];
  await untilAnswered(waiting, async () => {
    asked.push(now());
    return now() >= answeredAt ? "answer" : undefined;
  });
  return { asked, sleeps, end: now() };
}

test("an answer that is there at once is not waited for", async () => {
  expect(await timesAsked(() => 1, 0)).toEqual({ asked: [0], sleeps: [], end: 0 });
});

test("is asked again only when others have written, and at once", async () => {
  const { asked, end } = await timesAsked((at) => (at < 60 ? 1 : 2), 60);
  expect(asked).toHaveLength(2);
  expect(end).toBeLessThan(64);
});

test("is asked now and then though nobody has written: a time may have come, or an engine died", async () => {
  const { asked } = await timesAsked(() => 1, 2_000);
  expect(asked).toHaveLength(5);
});

test("looks rarely when it has to wait long", async () => {
  const { sleeps } = await timesAsked(() => 1, 60_000);
  expect(sleeps.length).toBeLessThan(900);
  expect(Math.max(...sleeps)).toBe(100);
});

test("where nobody can tell whether something was written, it is asked each time", async () => {
  const { asked, sleeps } = await timesAsked(() => undefined, 300);
  expect(asked).toHaveLength(sleeps.length + 1);
});

test("what takes long to ask is not asked all the time while others write", async () => {
  const { waiting, now } = world((at) => at);
  let asked = 0;
  await untilAnswered(waiting, async () => {
    asked++;
    // The asking itself takes time.
    await waiting.sleep(20);
    return now() > 400 ? "answer" : undefined;
  });
  expect(asked).toBeLessThanOrEqual(11);
});
