import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ovBinary } from "../../testkit/ov.ts";
import type { TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** The two ways to run the program: as users get it, and from a checkout. */
export const programs = {
  "the compiled program": (): string => ovBinary(),
  "the program run from source": (): string => resolve(import.meta.dir, "../../bin/ov"),
} as const;

/** Modules our own program imports, as the directory would like them to be found. */
const lures = ["yaml", "bun", "bun:sqlite", "bun:test", "fs", "node:fs", "path", "overstory"];

/** Puts everything into a directory by which a Bun program can be made to run foreign code or to believe foreign settings. */
export function setTraps(dir: string, marker: string): void {
  const evil = (trap: string): string =>
    `require("node:fs").appendFileSync(${JSON.stringify(marker)}, ${JSON.stringify(`${trap}\n`)});\n`;
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  put("evil-preload.ts", evil("preload"));
  put("evil-paths.ts", `${evil("paths")}export default {};\n`);
  put("evil-imports.ts", evil("imports"));
  put("bunfig.toml", 'preload = ["./evil-preload.ts"]\n[run]\npreload = ["./evil-preload.ts"]\n');
  put("tsconfig.json", JSON.stringify({ compilerOptions: { baseUrl: ".", paths: { "*": ["./evil-paths.ts"] } } }));
  put(
    "package.json",
    JSON.stringify({
      name: "overstory",
      type: "commonjs",
      main: "./evil-imports.ts",
      imports: { "#*": "./evil-imports.ts" },
      exports: { "./*": "./evil-imports.ts" },
      scripts: { preinstall: "bun evil-imports.ts", ov: "bun evil-imports.ts", start: "bun evil-imports.ts" },
    }),
  );
  const settings = [
    "OVERSTORY_PROJECT_ROOT=/nowhere",
    "OVERSTORY_TOKEN=forged",
    "OVERSTORY__PROJECT__NAME=hijacked",
    "OVERSTORY_TEST_KILL_AT=command.before-commit",
    "NO_COLOR=",
    "FORCE_COLOR=1",
  ];
  for (const name of [".env", ".env.local", ".env.production", ".env.development"])
    put(name, `${settings.join("\n")}\n`);
  for (const lure of lures) {
    put(`node_modules/${lure}/package.json`, JSON.stringify({ name: lure, version: "9.9.9", main: "index.js" }));
    put(`node_modules/${lure}/index.js`, `${evil(`node_modules/${lure}`)}module.exports = {};\n`);
  }
}

/** What the traps caught so far. */
export const caught = (marker: string): string[] =>
  existsSync(marker) ? [...new Set(readFileSync(marker, "utf8").trim().split("\n"))].sort() : [];

/** The commands that hooks and people run all the time. */
export const hotCommands: readonly (readonly string[])[] = [
  ["--version"],
  ["mail", "send", "--to", "operator", "--subject", "Hello", "--body", "there"],
  ["mail", "check", "--inject"],
  ["log", "tool-start", "--tool-name", "Bash"],
  ["status"],
  ["prime"],
  ["task", "create", "A task", "--id", "T1"],
  ["task", "list"],
];

/** Runs every hot command in the project's root; answers what each said, without what differs between any two runs. */
export async function runHotCommands(program: string, project: TestProject): Promise<string[]> {
  const said: string[] = [];
  for (const args of hotCommands) {
    // Without the compiled settings the program must read YAML, and so load a module with a tempting name.
    rmSync(statePath(project.root, "run", "config.json"), { force: true });
    const { code, out, err } = await run([program, ...args], project);
    said.push(`ov ${args.join(" ")}: ${code}\n${settled(out, project)}${settled(err, project)}`);
  }
  return said;
}

export async function run(cmd: string[], { root, env }: Pick<TestProject, "root" | "env">) {
  const child = Bun.spawn({ cmd, cwd: root, env: { ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

const settled = (text: string, { root }: TestProject): string =>
  text
    .replaceAll(root, "<root>")
    .replaceAll(/\bmsg-[a-z0-9]+/g, "<id>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
