import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const repository = resolve(import.meta.dir, "..");

/**
 * The most files of `src` with code that each of these commands may load. Agents and hooks call them many times in every turn, and
 * every file takes time to load. A command that needs more files than this imports something that few of its calls use:
 * import that where it is used, or move it to a file of its own. Raise a number only when all of its calls need the file.
 */
const hot: readonly (readonly [most: number, ...command: string[]])[] = [
  [4, "--version"],
  [105, "mail", "check", "--inject", "--agent", "nobody"],
  [111, "log", "tool-start", "--agent", "b1", "--tool-name", "Bash"],
  [152, "mail", "send", "--to", "operator", "--subject", "s", "--body", "b"],
  [176, "status", "--json"],
  [159, "merge", "add", "work"],
];

/** Modules of the platform that take long to load: to be asked for where they are used, with `process.getBuiltinModule`. */
const slowToLoad = ["node:os", "node:tty", "node:child_process", "node:crypto", "node:net", "node:http"];

const importsOf = (file: string): readonly string[] => {
  const text = file.endsWith(".ts") ? readFileSync(join(repository, "src", file), "utf8") : "";
  return slowToLoad.filter((module) => text.includes(`from "${module}"`)).map((module) => `${file} imports ${module}`);
};

test("commands that are called often load few files", () => {
  const root = mkdtempSync(join(tmpdir(), "ov-loaded-"));
  const env = { PATH: process.env.PATH ?? "", HOME: root };
  const run = (...cmd: readonly string[]): string => {
    const ended = Bun.spawnSync({ cmd: [...cmd], cwd: root, env, stdio: ["ignore", "ignore", "pipe"] });
    const said = ended.stderr.toString();
    if (ended.exitCode !== 0) throw new Error(`${cmd.join(" ")}: ${said}`);
    return said;
  };
  const ov = (...args: readonly string[]): string =>
    run(
      join(repository, "scripts", "bun"),
      ...["--preload", join(repository, "testkit", "print-loaded.ts"), join(repository, "src", "compose", "main.ts")],
      ...args,
    );
  try {
    mkdirSync(join(root, ".overstory"));
    writeFileSync(join(root, ".overstory", "config.yaml"), "project:\n  name: sample\n  canonicalBranch: main\n");
    const git = (...args: readonly string[]): string =>
      run("git", "-c", "user.name=A", "-c", "user.email=a@example.invalid", ...args);
    git("init", "--quiet", "--initial-branch=main");
    git("commit", "--quiet", "--allow-empty", "-m", "base");
    git("branch", "work");
    // The first commands make the database, and remember the configuration.
    for (const title of ["one", "other"]) ov("task", "create", title);
    const tooMany = hot.flatMap(([most, ...command]) => {
      const loaded = [...ov(...command).matchAll(/^loaded (.*)$/gm)].map(([, file = ""]) => file);
      const slow = loaded.flatMap(importsOf).map((words) => `ov ${command.join(" ")}: ${words}`);
      return loaded.length <= most && loaded.length > 0
        ? slow
        : [`ov ${command.join(" ")} loads ${loaded.length} files, and may load ${most}`, ...slow];
    });
    expect(tooMany).toEqual([]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}, 120_000);
