import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import type { TurnFiles } from "../ports/agent-process.ts";
import type { AgentAnswer, PlannedFile } from "../ports/runtime.ts";
import { writeAtomically } from "./atomic-file.ts";
import { makeOpenInput, openInput } from "./open-input.ts";
import { errorCode, makeWithin } from "./writable.ts";

const tailBytes = 2_000;

export function turnFiles(state: string): TurnFiles {
  const paths = (logDir: string) => ({ output: join(logDir, "stdout.ndjson"), error: join(logDir, "stderr.log") });
  return {
    paths,
    create: (logDir, { input, files }, { home, input: stays }) => {
      makeWithin(logDir, 4);
      writeFileSync(join(logDir, "input.json"), input, { mode: 0o600 });
      for (const file of files) placeFile(file, { turn: logDir, home });
      if (stays === "open") makeOpenInput(logDir);
    },
    openInput,
    readFor: (cwd, path) => served(() => readFileSync(resolve(cwd, path), "utf8")),
    writeFor: (cwd, path, text) =>
      served(() => {
        writeAtomically(resolve(cwd, path), text);
        return "";
      }),
    outputOf: (logDir) => {
      const path = paths(logDir).output;
      let file: number | undefined;
      return {
        size: () => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
        read: (offset, length) => {
          file ??= openSync(path, "r");
          const bytes = new Uint8Array(length);
          return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
        },
      };
    },
    errorTail: (logDir) => tail(paths(logDir).error),
    mirrorPid: (agentName, mirror) => {
      const path = join(state, "agents", agentName, "turn.pid");
      if (mirror === undefined) rmSync(path, { force: true });
      else writeAtomically(path, `${JSON.stringify(mirror)}\n`, 0o600);
    },
    readEnvironment: (path) => JSON.parse(readFileSync(path, "utf8")) as Record<string, string>,
  };
}

/** A file that is missing or may not be used is an answer, not a failure of the turn. */
function served(work: () => string): AgentAnswer {
  try {
    return { kind: "granted", text: work() };
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    return { kind: "refused", reason: error instanceof Error ? error.message : code };
  }
}

/** What lies in a home belongs to its user: a file that is there stays as it is. */
function placeFile(file: PlannedFile, dirs: Readonly<Record<PlannedFile["in"], string>>): void {
  const dir = dirs[file.in];
  const path = resolve(dir, file.path);
  if (!path.startsWith(`${resolve(dir)}/`)) throw new Error(`the planned file ${file.path} lies outside of ${dir}`);
  if (file.in === "home" && existsSync(path)) return;
  writeAtomically(path, file.text, 0o600);
}

function tail(path: string): string {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, tailBytes));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString("utf8").trim();
  } finally {
    closeSync(file);
  }
}
