import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Gate, GateResult } from "../src/domain/gate/gate.ts";
import { gateMark } from "../src/domain/process/process.ts";
import { gateRunner, saveChangedFiles } from "../src/host/gates/gate-runner.ts";
import { randomIds } from "../src/host/ids.ts";
import type { CommandRun } from "../src/ports/gate-runner.ts";
import type { Installed, PoolCheckout } from "../src/ports/merge-git.ts";
import type { GatePorts } from "../src/usecases/gates/run-gates.ts";
import { type GatesRun, type RunGates, runGates } from "../src/usecases/gates/run-gates.ts";

/** A run of a command with ids of its own. */
export function newRun(): CommandRun {
  const id = randomIds.next("process");
  return { id, mark: gateMark(randomIds.digest(id)) };
}

/** A required gate for every change. */
export const gate = (name: string, command: string, more: Partial<Gate> = {}): Gate => ({
  name,
  command,
  timeoutMs: 20_000,
  required: true,
  paths: [],
  ...more,
});

/** Gates on real directories with real processes. */
export interface GateWorld extends Disposable {
  readonly dir: string;
  /** What happened, in order: checkouts and kill-points. */
  readonly did: string[];
  readonly stored: readonly GateResult[];
  run(gates: readonly Gate[], more?: Partial<RunGates>): Promise<GatesRun>;
  /** How many commands have been run so far. */
  ran(): number;
  /** How many processes are on record as living. */
  living(): number;
}

export function gateWorld(): GateWorld {
  const dir = mkdtempSync(join(tmpdir(), "ov-run-gates-"));
  const did: string[] = [];
  const stored: GateResult[] = [];
  let living = 0;
  const installed = join(dir, "installed");
  const placeOf = (slot: number): string => join(dir, `slot-${slot}`);
  const ports: GatePorts = {
    git: {
      checkOut: async (slot, commit, keep): Promise<PoolCheckout> => {
        const { keepIgnored = [], setup, rest = "goes" } = keep ?? {};
        did.push(`checkout ${slot} ${commit} keep ${keepIgnored.join(",")}${rest === "stays" ? ", rest stays" : ""}`);
        const path = placeOf(slot);
        if (rest === "goes") rmSync(path, { recursive: true, force: true });
        mkdirSync(path, { recursive: true });
        writeFileSync(join(path, "commit"), commit);
        const kept = setup === undefined ? [] : keepIgnored.filter((name) => existsSync(join(installed, name)));
        for (const name of kept) {
          rmSync(join(path, name), { recursive: true, force: true });
          cpSync(join(installed, name), join(path, name), { recursive: true });
        }
        return { form: "", path, kept, cached: [], installOn: setup === undefined || kept.length > 0 ? null : commit };
      },
      formOfFiles: async () => "",
      keepInstalled: async (slot, commit, { keepIgnored }): Promise<Installed> => {
        did.push(`keep what ${commit} has installed`);
        const made = keepIgnored.filter((name) => existsSync(join(placeOf(slot), name)));
        for (const name of made) cpSync(join(placeOf(slot), name), join(installed, name), { recursive: true });
        return made.length > 0 ? { kind: "kept" } : { kind: "not-kept", left: [] };
      },
    },
    runner: gateRunner({ env: process.env, graceMs: 100 }),
    cache: {
      find: async (tree, hash) => stored.findLast((result) => result.tree === tree && result.gateHash === hash),
      store: async (result) => {
        if (living !== 0) throw new Error("a result was stored while its process was on record as living");
        stored.push(result);
      },
    },
    clock: { now: () => 1_000 },
    ids: randomIds,
    newRun,
    recordProcess: async () => {
      living++;
      return async () => {
        living--;
      };
    },
    saveChangedFiles,
    reach: (name) => void did.push(name),
  };
  let runs = 0;
  const run = (gates: readonly Gate[], more: Partial<RunGates> = {}) =>
    runGates(ports, {
      commit: "c1",
      tree: "t1",
      gates,
      keepIgnored: ["node_modules"],
      cache: [],
      setup: undefined,
      landed: "c0",
      slot: 0,
      baseCommit: "c0",
      changedFiles: ["src/a.ts"],
      environments: [],
      logDir: join(dir, "logs", String(runs++)),
      useCache: true,
      ...more,
    });
  const ran = (): number => did.filter((what) => what === "gate.after-run").length;
  return {
    dir,
    did,
    stored,
    run,
    ran,
    living: () => living,
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}
