import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { EngineNotice } from "../../ports/engine-door.ts";
import { linuxProcesses } from "../processes.ts";
import { engineSide } from "./engine-side.ts";
import { doorPaths } from "./paths.ts";

let base: string;
let before: string | undefined;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "ov-door-"));
  before = process.env.XDG_RUNTIME_DIR;
  process.env.XDG_RUNTIME_DIR = base;
});
afterEach(() => {
  if (before === undefined) delete process.env.XDG_RUNTIME_DIR;
  else process.env.XDG_RUNTIME_DIR = before;
  rmSync(base, { recursive: true });
});

/** A state directory so deep that its socket has to be elsewhere. */
function deepState(): string {
  const state = join(base, "deep".repeat(30), "ov-state");
  mkdirSync(join(state, "run"), { recursive: true, mode: 0o700 });
  return state;
}

function noticeOf(state: string): EngineNotice {
  const side = engineSide({ state, engine: [], env: {}, processes: linuxProcesses, version: "1" });
  const door = side.open({ wake: () => {}, call: async () => "" });
  const notice: EngineNotice = JSON.parse(readFileSync(doorPaths(state).notice, "utf8"));
  expect(lstatSync(notice.socket).isSocket()).toBe(true);
  expect(lstatSync(dirname(notice.socket)).mode & 0o777).toBe(0o700);
  door.close({});
  return notice;
}

test("the socket of a deep project is in a directory of its own that only its user can enter", () => {
  const state = deepState();
  expect(noticeOf(state).socket).toBe(doorPaths(state).socket);
});

test("a directory that was made before, and that others can write to, is not used for it", () => {
  const state = deepState();
  const planned = dirname(doorPaths(state).socket);
  mkdirSync(planned);
  chmodSync(planned, 0o777);
  expect(dirname(noticeOf(state).socket)).not.toBe(planned);
  rmSync(planned, { recursive: true });
  const trap = join(base, "trap");
  mkdirSync(trap, { mode: 0o700 });
  symlinkSync(trap, planned);
  expect(dirname(noticeOf(state).socket)).not.toBe(planned);
});

test("the notice says which directory the engine serves", () => {
  const state = deepState();
  const { ino, dev } = lstatSync(state);
  expect(noticeOf(state).place).toEqual({ state, device: String(dev), inode: String(ino) });
});
