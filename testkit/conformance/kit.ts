import { afterAll, beforeAll, describe, test } from "bun:test";
import { dirname } from "node:path";
import { findCli, skipWithoutCli } from "../agent-clis/installed.ts";
import { type CheckName, checkNames } from "./checks.ts";
import type { KitDriver } from "./driver.ts";
import { drivers } from "./drivers.ts";
import { writeResults } from "./results.ts";
import type { Checks, Scene } from "./scene.ts";
import { scenes } from "./scenes/all.ts";
import { type KitWorld, kitWorld } from "./world.ts";

/** `npm run test:real` plays everything; `npm test` only what shows whether each program can still be driven. */
const isFull = process.env.REAL_CLIS === "full";

/** Programs that run at the same time: as many as the machine has cores, and one that waits. */
const atOnce = 3;

const timeoutMs = 400_000;

const strict = ({ silenceMs }: KitDriver): string =>
  `turn:\n  stallTimeoutMs: ${silenceMs}\nbudgets:\n  agent: { tokens: 1000 }\n  estimate: { tokens: 100 }\n`;

/** Tries the driver of this name with its real program, one test for each check. */
export function conformance(id: string): void {
  const driver = drivers.find((one) => one.id === id);
  if (driver === undefined) throw new Error(`the kit has no driver ${id}`);
  const { cli } = driver;
  describe(`conformance of ${id}`, () => {
    if (cli === null) return tryAll(driver, null);
    const program = findCli(cli);
    if (program === undefined) skipWithoutCli(cli, "every check");
    else tryAll(driver, dirname(program));
  });
}

function tryAll(driver: KitDriver, binDir: string | null): void {
  const played = scenes.filter(({ isSmoke }) => isFull || isSmoke);
  const stage = new Playing(driver, binDir, played);
  const passed: CheckName[] = [];
  beforeAll(() => stage.begin());
  afterAll(async () => {
    await stage.end();
    if (isFull) writeResults(driver, passed);
  }, timeoutMs);
  const names = checkNames.filter((name) => isFull || played.some((scene) => scene.checks.includes(name)));
  for (const name of names) {
    const reason = driver.skips[name];
    const scene = played.find(({ checks }) => checks.includes(name));
    if (scene === undefined) throw new Error(`no scene has the check ${name}`);
    if (reason !== undefined) continue;
    const body = async (): Promise<void> => {
      const checks = await stage.checksOf(scene);
      const holds = checks[name];
      if (holds === undefined) throw new Error(`the scene ${scene.name} has no check ${name}`);
      await holds();
      passed.push(name);
    };
    test(name, body, timeoutMs);
  }
}

/** The scenes of one driver, a few at a time, in two projects. */
class Playing {
  readonly #driver: KitDriver;
  readonly #binDir: string | null;
  readonly #scenes: readonly Scene[];
  readonly #results = new Map<string, Promise<Checks>>();
  readonly #told = new Set<string>();
  readonly #worlds = new Map<Scene["in"], Promise<KitWorld>>();

  constructor(driver: KitDriver, binDir: string | null, all: readonly Scene[]) {
    this.#driver = driver;
    this.#binDir = binDir;
    this.#scenes = all;
  }

  begin(): void {
    const waiting: (() => void)[] = [];
    let free = atOnce;
    for (const scene of this.#scenes) {
      const play = async (): Promise<Checks> => {
        if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
        else free -= 1;
        try {
          return await scene.play(await this.#world(scene.in));
        } finally {
          const next = waiting.shift();
          if (next === undefined) free += 1;
          else next();
        }
      };
      const result = play();
      // A caller that asks for its checks gets the error.
      result.catch(() => {});
      this.#results.set(scene.name, result);
    }
  }

  /** What went wrong in a scene is told in full to the first who asks. */
  async checksOf({ name }: Scene): Promise<Checks> {
    if (this.#told.has(name)) throw new Error(`the scene "${name}" did not come to its end, as said above`);
    try {
      return (await this.#results.get(name)) ?? {};
    } catch (error) {
      this.#told.add(name);
      throw error;
    }
  }

  async end(): Promise<void> {
    await Promise.allSettled(this.#results.values());
    for (const world of this.#worlds.values()) await (await world)[Symbol.asyncDispose]();
  }

  #world(kind: Scene["in"]): Promise<KitWorld> {
    const known = this.#worlds.get(kind);
    if (known !== undefined) return known;
    const made = kitWorld(this.#driver, this.#binDir, kind === "strict" ? strict(this.#driver) : "");
    this.#worlds.set(kind, made);
    return made;
  }
}
