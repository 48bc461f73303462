import { expect, test } from "bun:test";
import { SingleFlight } from "./single-flight.ts";

/** Work that waits in each run until it is let go. */
function heldWork() {
  const ends: ((changed: boolean | Error) => void)[] = [];
  const work = () =>
    new Promise<boolean>((resolve, reject) => {
      ends.push((end) => (end instanceof Error ? reject(end) : resolve(end)));
    });
  return { ends, work };
}

function flightOf(work: () => Promise<boolean>) {
  const reported: unknown[] = [];
  let wakes = 0;
  const terms = { report: (error: unknown) => void reported.push(error), wake: () => void wakes++ };
  return { flight: new SingleFlight(work, terms), reported, wakes: () => wakes };
}

const nextTick = (): Promise<void> => Bun.sleep(1);

test("work that is asked for three times while it runs runs once more", async () => {
  const { ends, work } = heldWork();
  const { flight } = flightOf(work);
  flight.ask();
  for (let n = 0; n < 3; n++) flight.ask();
  expect(ends).toHaveLength(1);
  ends[0]?.(false);
  await nextTick();
  expect(ends).toHaveLength(2);
  ends[1]?.(false);
  await flight.settled();
  await nextTick();
  expect(ends).toHaveLength(2);
});

test("it wakes after a run that changed something, and only then", async () => {
  const { ends, work } = heldWork();
  const { flight, wakes } = flightOf(work);
  flight.ask();
  ends[0]?.(false);
  await flight.settled();
  expect(wakes()).toBe(0);
  flight.ask();
  ends[1]?.(true);
  await flight.settled();
  expect(wakes()).toBe(1);
});

test("a failed run is reported, keeps nothing from running, and wakes when its pause is over", async () => {
  const { ends, work } = heldWork();
  const { flight, reported, wakes } = flightOf(work);
  flight.ask();
  flight.ask();
  ends[0]?.(new Error("no"));
  await nextTick();
  expect(reported).toEqual([new Error("no")]);
  expect(ends).toHaveLength(2);
  ends[1]?.(false);
  await flight.settled();
  while (wakes() === 0) await Bun.sleep(20);
});

test("a flight that is to settle begins no further run; asked again afterwards, it does", async () => {
  const { ends, work } = heldWork();
  const { flight } = flightOf(work);
  flight.ask();
  flight.ask();
  const settled = flight.settled();
  ends[0]?.(false);
  await settled;
  await nextTick();
  expect(ends).toHaveLength(1);
  flight.ask();
  expect(ends).toHaveLength(2);
  ends[1]?.(false);
  await flight.settled();
});
