import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ovBinary } from "./ov.ts";
import { makeProject, type ProjectOptions, type TestProject } from "./project.ts";

/** A person with a fresh repository, a shell and `ov` on PATH. The agent's program is the scripted one. */
export interface Person extends AsyncDisposable {
  readonly project: TestProject;
  /** Types a command and reads what the terminal shows: output and errors in their order. */
  type(command: string): Promise<Typed>;
}

export interface Typed {
  readonly code: number;
  readonly shown: string;
}

export async function personWith(options: ProjectOptions): Promise<Person> {
  const project = await makeProject({ ...options, bare: true });
  mkdirSync(join(project.root, ".overstory"));
  writeFileSync(
    join(project.root, ".overstory", "config.local.yaml"),
    "runtime:\n  default: scripted\nengine:\n  idleExitMs: 300\n",
  );
  const bin = join(project.home, "bin");
  mkdirSync(bin);
  symlinkSync(ovBinary(), join(bin, "ov"));
  const env = { ...project.env, PATH: `${bin}:${project.env.PATH}` };
  return {
    project,
    type: (command) => typeIn(project.root, env, command),
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

/** Types into a shell that ends at the first command that fails. */
export async function typeIn(cwd: string, env: Readonly<NodeJS.ProcessEnv>, command: string): Promise<Typed> {
  const cmd = ["sh", "-c", `exec 2>&1\nset -e\n${command}`];
  const child = Bun.spawn({ cmd, cwd, env: { ...env }, stdio: ["ignore", "pipe", "inherit"] });
  const shown = await new Response(child.stdout).text();
  return { code: await child.exited, shown };
}
