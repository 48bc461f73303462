import { expect, test } from "bun:test";
import { worldWith } from "../../../testkit/world.ts";
import type { EngineContact, EngineControl, EngineNotice } from "../../ports/engine-contact.ts";
import { startEngine } from "./control.ts";

const notice: EngineNotice = { pid: 7, startToken: "1", bootId: "b", socket: "/s", version: "1" };

/** An engine that hears a caller and leaves all the same; the next caller starts another one. */
function leavingEngine() {
  let looks = 0;
  let ensured = 0;
  const isStarted = (): boolean => ensured > 1;
  const contact: Partial<EngineContact> = {
    ensure: async () => {
      ensured++;
      return undefined;
    },
    answers: async () => isStarted(),
    // It is gone at the third look, and its keeper some looks later.
    notice: () => (isStarted() || ++looks < 3 ? notice : undefined),
  };
  const control: Partial<EngineControl> = {
    contact: contact as EngineContact,
    keeperIsAlive: () => ++looks < 6,
    successorIsAlive: () => false,
    log: { path: "/engine.log", exists: () => true },
  };
  return { control: control as EngineControl, ensured: () => ensured };
}

test("an engine is started where the one that was told left at that moment, once its keeper has ended", async () => {
  const engine = leavingEngine();
  const world = worldWith({ requireOperator: async () => undefined, engineControl: async () => engine.control });
  expect(await startEngine.run(world, {})).toMatchObject({ ok: true, value: { pid: notice.pid } });
  expect(engine.ensured()).toBe(2);
});
