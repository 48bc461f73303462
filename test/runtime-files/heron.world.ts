import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Turn } from "../../src/domain/turn/turn.ts";
import { ranTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** A project in which the program `heron` is on the PATH: our own agent that speaks ACP. */
export interface HeronProject extends TestProject {
  /** Describes a runtime whose agents play this case. */
  describe(id: string, play: string, more?: string): void;
  /** Slings a builder of a runtime, on a task of its own. */
  sling(name: string, runtime: string, ...flags: string[]): Promise<void>;
  /** Waits for the first turn of an agent that has ended. */
  firstTurn(name: string): Promise<Turn>;
  /** Waits until the agent has finished its work. */
  done(name: string): Promise<void>;
}

const program = resolve(import.meta.dir, "../../testkit/acp-agent/heron.ts");

const patienceMs = 150_000;

export async function heronProject(config = ""): Promise<HeronProject> {
  const project = await makeProject({ gates: ["test ! -e broken.txt"], config });
  const bin = join(project.home, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "heron"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(join(bin, "heron"), 0o755);
  const env = { PATH: `${bin}:${project.env.PATH ?? process.env.PATH}` };
  return Object.assign(project, {
    describe: (id: string, play: string, more = "") => {
      mkdirSync(join(project.root, ".overstory/runtimes"), { recursive: true });
      const text = `program: heron\nargs: [${play}]\nlogin:\n  advice: "heron login"\n${more}`;
      writeFileSync(join(project.root, ".overstory/runtimes", `${id}.yaml`), text);
    },
    sling: async (name: string, runtime: string, ...flags: string[]) => {
      const task = name.toUpperCase();
      await project.json("task", "create", `Task ${task}`, "--id", task, "--description", "Say hello.");
      const words = ["sling", task, "--name", name, "--runtime", runtime, ...flags];
      const answer = await project.ovWith({ env }, ...words);
      if (answer.code !== 0) throw new Error(`ov ${words.join(" ")} exited ${answer.code}: ${answer.err}`);
    },
    firstTurn: async (name: string) => {
      let first: Turn | undefined;
      const ended = async (): Promise<boolean> => {
        first = (await ranTurns(project, name)).find(({ endedAt }) => endedAt !== null);
        return first !== undefined;
      };
      await project.until(`the first turn of ${name} had ended`, ended, patienceMs);
      if (first === undefined) throw new Error(`${name} had no turn`);
      return first;
    },
    done: (name: string) =>
      project.until(
        `${name} was done`,
        async () => {
          const { state, outcome } = await project.agent(name);
          if (state === "zombie") throw new Error(`${name} ended as ${outcome}`);
          return state === "completed" && outcome === "done";
        },
        patienceMs,
      ),
  });
}
