import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { EngineNotice } from "../../ports/engine-contact.ts";
import { linuxProcesses } from "../processes.ts";
import { callEngine, hasAnswer } from "./caller.ts";
import { engineSide, mostFrameBytes } from "./engine-side.ts";
import { enginePaths } from "./keeper.ts";

let base: string;
let before: string | undefined;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "ov-contact-"));
  before = process.env.XDG_RUNTIME_DIR;
  process.env.XDG_RUNTIME_DIR = base;
});
afterEach(() => {
  if (before === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = before;
  rmSync(base, { recursive: true });
});

/** A state directory with a path so long that the socket must lie elsewhere. */
function deepState(name = "deep"): string {
  const state = join(base, name.repeat(30), "ov-state");
  mkdirSync(join(state, "run"), { recursive: true, mode: 0o700 });
  return state;
}

function noticeOf(state: string): EngineNotice {
  const side = engineSide({ state, engine: [], env: {}, processes: linuxProcesses, version: "1" });
  const socket = side.open({ wake: () => {}, call: async () => "", restored: () => {} });
  const notice: EngineNotice = JSON.parse(readFileSync(enginePaths(state).notice, "utf8"));
  expect(lstatSync(notice.socket).isSocket()).toBe(true);
  expect(lstatSync(dirname(notice.socket)).mode & 0o777).toBe(0o700);
  socket.close({});
  return notice;
}

test("the socket of a deep project is in a directory of its own that only its user can enter", () => {
  const state = deepState();
  expect(noticeOf(state).socket).toBe(enginePaths(state).socket);
});

test("a directory that was made before, and that others can write to, is not used for it", () => {
  const state = deepState();
  const planned = dirname(enginePaths(state).socket);
  mkdirSync(planned);
  chmodSync(planned, 0o777);
  expect(dirname(noticeOf(state).socket)).not.toBe(planned);
  rmSync(planned, { recursive: true });
  const trap = join(base, "trap");
  mkdirSync(trap, { mode: 0o700 });
  symlinkSync(trap, planned);
  expect(dirname(noticeOf(state).socket)).not.toBe(planned);
});

test.skipIf(process.getuid?.() !== 0)("nor is one of another user, whatever its permissions", () => {
  const state = deepState();
  const planned = dirname(enginePaths(state).socket);
  mkdirSync(planned, { mode: 0o700 });
  chownSync(planned, 54_321, 54_321);
  expect(dirname(noticeOf(state).socket)).not.toBe(planned);
});

test("the notice says which directory the engine serves", () => {
  const state = deepState();
  const { ino, dev } = lstatSync(state);
  expect(noticeOf(state).place).toEqual({ state, device: String(dev), inode: String(ino) });
});

test("deleted files of the socket are made again, once nothing more is deleted", async () => {
  const state = deepState();
  const paths = enginePaths(state);
  const keeper = JSON.stringify(linuxProcesses.self());
  let restored = 0;
  const side = engineSide({ state, engine: [], env: {}, processes: linuxProcesses, version: "1" });
  writeFileSync(paths.keeper, keeper);
  const socket = side.open({ wake: () => {}, call: async () => "", restored: () => restored++ });
  for (const [times, lose] of [
    () => rmSync(paths.run, { recursive: true }),
    () => rmSync(dirname(paths.socket), { recursive: true }),
    () => rmSync(paths.socket),
    () => rmSync(paths.notice),
    () => writeFileSync(paths.notice, "half a"),
    () => renameSync(paths.run, join(state, "elsewhere")),
  ].entries()) {
    lose();
    while (restored <= times) await Bun.sleep(10);
    expect(await hasAnswer(JSON.parse(readFileSync(paths.notice, "utf8")).socket, 5_000)).toBe(true);
    expect(readFileSync(paths.keeper, "utf8")).toBe(keeper);
  }
  socket.close({});
  expect([existsSync(paths.notice), existsSync(paths.keeper), restored]).toEqual([false, false, 6]);
});

test("the socket of another engine is left alone, and so is a project that no longer exists", async () => {
  const state = deepState();
  const paths = enginePaths(state);
  let restored = 0;
  const side = engineSide({ state, engine: [], env: {}, processes: linuxProcesses, version: "1" });
  const socket = side.open({ wake: () => {}, call: async () => "", restored: () => restored++ });
  const other = JSON.stringify({ ...linuxProcesses.identify(process.ppid), socket: "/nowhere", version: "2" });
  writeFileSync(paths.notice, other);
  await otherRestored();
  expect([readFileSync(paths.notice, "utf8"), restored]).toEqual([other, 0]);
  rmSync(state, { recursive: true });
  await otherRestored();
  expect([existsSync(state), restored]).toEqual([false, 0]);
  socket.close({});
});

/** Another engine loses its notice now, and has put it back. What was lost before could have been put back by then. */
async function otherRestored(): Promise<void> {
  const state = deepState("other");
  const restored = Promise.withResolvers<void>();
  const side = engineSide({ state, engine: [], env: {}, processes: linuxProcesses, version: "1" });
  const socket = side.open({ wake: () => {}, call: async () => "", restored: () => restored.resolve() });
  rmSync(enginePaths(state).notice);
  await restored.promise;
  socket.close({});
}

test("a frame without an end is refused at the limit, and the engine serves the others", async () => {
  const state = deepState();
  const side = engineSide({ state, engine: [], env: {}, processes: linuxProcesses, version: "1" });
  const listening = side.open({ wake: () => {}, call: async (frame) => `${frame.length}`, restored: () => {} });
  const { socket } = JSON.parse(readFileSync(enginePaths(state).notice, "utf8")) as EngineNotice;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const part = Buffer.alloc(2 ** 20, "x");
  let sent = 0;
  const fill = (to: { write(data: Buffer): number }): void => {
    for (let taken = part.length; taken === part.length; sent += Math.max(taken, 0)) taken = to.write(part);
  };
  await Bun.connect({
    unix: socket,
    socket: { open: fill, drain: fill, data: () => {}, close: () => resolve(), error: () => resolve() },
  });
  await ended;
  expect(sent).toBeGreaterThan(mostFrameBytes);
  expect(sent).toBeLessThan(4 * mostFrameBytes);
  expect(await hasAnswer(socket, 5_000)).toBe(true);
  listening.close({});
});

test("a look at an engine whose socket was deleted takes as long as it is counted for", async () => {
  const state = deepState();
  const side = engineSide({ state, engine: [], env: {}, processes: linuxProcesses, version: "1" });
  const door = side.open({ wake: () => {}, call: async () => "", restored: () => {} });
  rmSync(enginePaths(state).socket);
  const began = performance.now();
  expect(await side.look(linuxProcesses.self(), 300)).not.toBe("answers");
  expect(performance.now() - began).toBeGreaterThan(290);
  door.close({});
});

test("a caller whose request fails in the engine is told so at once", async () => {
  const state = deepState();
  const side = engineSide({ state, engine: [], env: {}, processes: linuxProcesses, version: "1" });
  const call = () => Promise.reject(new Error("out of luck"));
  const door = side.open({ wake: () => {}, call, restored: () => {} });
  const answer = await callEngine(state, "{}");
  expect(JSON.parse(answer)).toEqual({ problem: "the engine failed: Error: out of luck" });

  door.close({});
});
