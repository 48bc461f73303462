import { Database } from "bun:sqlite";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Turn } from "../../src/domain/turn/turn.ts";
import { textOf } from "../claude.ts";
import { type FakeModel, type SeenRequest, startFakeModel } from "../fake-model/server.ts";
import { ranTurns } from "../lifecycle.ts";
import { makeProject, type TestProject } from "../project.ts";
import { outputIn } from "../turn-output.ts";
import type { KitDriver, KitStep } from "./driver.ts";

/** A project in which agents of one driver work against one fake model. */
export interface KitWorld extends AsyncDisposable {
  readonly driver: KitDriver;
  readonly project: TestProject;
  readonly model: FakeModel;
  /** Words for a task or a message that make the agent who reads them do these steps. */
  script(...steps: KitStep[]): string;
  /** The same for an agent whose output is mangled on its way, with what `sling` needs for it. */
  mangled(...steps: KitStep[]): { readonly words: string; readonly more: SlingMore };
  /** What stands between the events of a mangled output, and on the error output, for a person. */
  readonly mangledWords: readonly string[];
  /** Slings a builder on a task of its own with this description. */
  sling(name: string, description: string, more?: SlingMore): Promise<void>;
  /** Lets an agent that was stopped go on, from a shell like the one in which it was slung. */
  recover(name: string): Promise<void>;
  /** Gives the agent more work, which starts a turn. */
  tell(name: string, text: string): Promise<void>;
  /** The requests of the agent's conversations, oldest first. Empty where there is no model. */
  requests(name: string): readonly SeenRequest[];
  /** Everything that ever reached the agent's model. */
  heard(name: string): string;
  worktree(name: string): string;
  /** Waits until the agent is inside `held`; its conversation, if it has a name by then. */
  isHeld(name: string): Promise<string | null>;
  letGo(name: string): void;
  turns(name: string): Promise<readonly Turn[]>;
  /** Waits until the agent has finished its work as this generation; throws at once when a turn of it failed. */
  finished(name: string, generation?: number): Promise<void>;
  /** Waits until the agent has finished, after any number of failed turns. */
  finishedAtLast(name: string): Promise<void>;
  /** Waits for a turn that ended, the newest first, which is like this. */
  untilTurn(name: string, what: string, is: (turn: Turn) => boolean): Promise<Turn>;
  /** Takes the agent's conversation away from its program. */
  forget(name: string): Promise<void>;
}

interface SlingMore {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A turn of a slow program on a busy machine is over by then. */
const patienceMs = 200_000;

/** A shell command that lasts until the test lets it go on. */
export const held = "touch .held; until [ -e .go ]; do sleep 0.1; done; rm .held .go";

/** A commit of one file, as builders make it. */
export const committed = (file: string): string =>
  `echo hello > ${file} && git add ${file} && git commit --quiet -m 'Add ${file}'`;

export const finish: KitStep = { shell: "ov done --summary 'It is there.'" };

export async function kitWorld(driver: KitDriver, binDir: string | null, config = ""): Promise<KitWorld> {
  const model = startFakeModel();
  const path = [...(binDir === null ? [] : [binDir]), process.env.PATH].join(":");
  const project = await makeProject({
    env: { PATH: path },
    gates: ["test ! -e broken.txt"],
    config: `agents:\n  continuePrompts: 0\nmail:\n  maxBodyBytes: 1048576\n${config}`,
  });
  // A command that was killed leaves them behind, and they are no work that a commit lacks.
  appendFileSync(join(project.root, ".git/info/exclude"), "\n.held\n.go\n");
  const place = { url: model.url, home: project.home };
  for (const [file, text] of Object.entries(driver.files(place))) {
    mkdirSync(dirname(join(project.home, file)), { recursive: true });
    writeFileSync(join(project.home, file), text);
  }
  const requests = (name: string): readonly SeenRequest[] =>
    model.seen.filter((request) => {
      const isAsked = (request.asked?.tools ?? []).length > 0;
      return isAsked && textOf(request).includes(`You are ${name}, a`);
    });
  const script = (steps: readonly KitStep[], isMangled: boolean): string =>
    driver.stage === null
      ? `@@${JSON.stringify(steps.map(({ isDenied: _, ...step }) => step))}@@`
      : driver.stage.script(project.env.OVERSTORY_SCENARIO ?? "", steps, isMangled);
  const worktree = (name: string): string => join(project.root, ".overstory/worktrees", name);
  // Agents that begin at the same moment may find the files of their program in use; they are parked, and begin again.
  const turns = async (name: string): Promise<readonly Turn[]> =>
    (await ranTurns(project, name)).filter(({ failure }) => failure !== "busy");
  const world: KitWorld = {
    driver,
    project,
    model,
    requests,
    worktree,
    turns,
    script: (...steps) => script(steps, false),
    mangled: (...steps) => {
      const words = script(steps, true);
      if (binDir === null) return { words, more: {} };
      const shim = join(project.home, "mangled", driver.runtime.split(":")[0] ?? "");
      mkdirSync(dirname(shim), { recursive: true });
      writeFileSync(shim, shimText(join(binDir, basename(shim))), { mode: 0o755 });
      return { words, more: { env: { PATH: `${dirname(shim)}:${path}` } } };
    },
    mangledWords: binDir === null ? ["no JSON"] : ["warning: something is old", "an error output"],
    sling: async (name, description, { flags = [], env = {} } = {}) => {
      const task = name.toUpperCase();
      // The scripted agent looks for the words of a script in its input, which has the title of its task and not the description.
      const title = [`Task ${task}`, ...(driver.stage === null ? [] : (description.match(/KIT-\d+-/g) ?? []))].join(
        " ",
      );
      await project.json("task", "create", title, "--id", task, "--description", description);
      const words = [task, "--name", name, "--runtime", driver.runtime, "--model", driver.model.flag, ...flags];
      const answer = await project.ovWith({ env: { ...driver.shell(place), ...env } }, "sling", ...words);
      if (answer.code !== 0) throw new Error(`ov sling ${words.join(" ")} exited ${answer.code}: ${answer.err}`);
    },
    recover: async (name) => {
      const answer = await project.ovWith({ env: driver.shell(place) }, "recover", name);
      if (answer.code !== 0) throw new Error(`ov recover ${name} exited ${answer.code}: ${answer.err}`);
    },
    tell: async (name, text) => {
      const words = ["--to", name, "--type", "dispatch", "--subject", "More", "--body", "-"];
      const answer = await project.ovWith({ stdin: text }, "mail", "send", ...words);
      if (answer.code !== 0) throw new Error(`ov mail send exited ${answer.code}: ${answer.err}`);
    },
    heard: (name) =>
      driver.stage === null
        ? requests(name).map(textOf).join("\n")
        : [join(project.state, name), join(project.root, ".git/ov-state")]
            .map((dir) => textBelow(dir, name))
            .join("\n"),
    isHeld: async (name) => {
      const isNamed = async (): Promise<boolean> =>
        !driver.namesSessionEarly || (await project.agent(name)).providerSessionId !== null;
      const look = async (): Promise<boolean> => {
        const running = (await turns(name)).at(-1);
        if (running !== undefined && running.endedAt !== null) throw new Error(storyOf(name, running));
        return existsSync(join(worktree(name), ".held")) && (await isNamed());
      };
      await project.until(`${name} was held`, look, patienceMs);
      return (await project.agent(name)).providerSessionId;
    },
    letGo: (name) => writeFileSync(join(worktree(name), ".go"), ""),
    finished: (name, generation = 1) =>
      project.until(
        `${name} had finished`,
        async () => {
          const failed = (await turns(name)).find((turn) => turn.endedAt !== null && turn.clean !== true);
          if (failed !== undefined) throw new Error(storyOf(name, failed));
          const agent = await project.read((tx) => tx.agents.byName(name));
          return agent?.generation === generation && agent.state === "completed";
        },
        patienceMs,
      ),
    finishedAtLast: (name) =>
      project.until(
        `${name} had finished`,
        async () => {
          const agent = await project.agent(name);
          const last = (await turns(name)).at(-1);
          const isOver = ["zombie", "completed"].includes(agent.state) && agent.outcome !== "done";
          if (isOver && last !== undefined && last.endedAt !== null) throw new Error(storyOf(name, last));
          return agent.state === "completed";
        },
        patienceMs,
      ),
    untilTurn: async (name, what, is) => {
      let found: Turn | undefined;
      const look = async (): Promise<boolean> => {
        found = (await turns(name)).findLast((turn) => turn.endedAt !== null && is(turn));
        return found !== undefined;
      };
      await project.until(`a turn of ${name} ${what}`, look, patienceMs);
      if (found === undefined) throw new Error(`no turn of ${name} ${what}`);
      return found;
    },
    forget: async (name) => forgetSession(project.home, (await project.agent(name)).providerSessionId ?? ""),
    [Symbol.asyncDispose]: async () => {
      await project[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
  return world;
}

/** What the program printed in a turn. */
export function outputOf(turn: Turn | undefined): string {
  return outputIn(turn?.logDir ?? "");
}

const storyOf = (name: string, turn: Turn): string =>
  `a turn of ${name} ended too early: ${turn.error ?? turn.resultText}\n${outputOf(turn).slice(-6000)}`;

/** A program of the same name, whose output goes through `mangle.ts`. */
const shimText = (program: string): string =>
  [
    "#!/bin/sh",
    `case " $* " in *" --version "*) exec '${program}' "$@" ;; esac`,
    `exec '${process.execPath}' '${join(import.meta.dir, "mangle.ts")}' '${program}' "$@"`,
    "",
  ].join("\n");

/** The agent's diary and what it was told and printed: all that can be known of an agent without a model. */
function textBelow(dir: string, name: string): string {
  if (!existsSync(dir)) return "";
  const files = readdirSync(dir, { recursive: true, encoding: "utf8" });
  const own = files.filter((file) => /\.(ndjson|ndjson\.zst|md)$/.test(file) && join(dir, file).includes(name));
  return own.map((file) => fileText(join(dir, file))).join("\n");
}

/** The output of a turn that has settled is compressed. */
function fileText(path: string): string {
  const bytes = readFileSync(path);
  return (path.endsWith(".zst") ? Bun.zstdDecompressSync(bytes) : bytes).toString();
}

/** Programs keep a conversation in files that carry its id, or a part of it, or in a database. */
function forgetSession(home: string, id: string): void {
  if (id === "") throw new Error("there is no conversation to forget");
  const parts = [id, id.slice(0, 8)];
  const all = readdirSync(home, { recursive: true, encoding: "utf8" }).map((file) => resolve(home, file));
  const kept = all.filter((file) => parts.some((part) => (file.split("/").at(-1) ?? "").includes(part)));
  for (const file of kept) rmSync(file, { recursive: true, force: true });
  const database = join(home, ".local/share/opencode/opencode.db");
  if (kept.length > 0 || !existsSync(database)) return;
  using records = new Database(database);
  records.run("PRAGMA busy_timeout = 5000");
  records.run("PRAGMA foreign_keys = ON");
  records.run("DELETE FROM session WHERE id = ?", [id]);
}
