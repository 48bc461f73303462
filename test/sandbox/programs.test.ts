import { expect } from "bun:test";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { confining, testConfined } from "../../testkit/sandboxed.ts";
import { statePath } from "../../testkit/state.ts";

/** Puts an executable script at a path. */
function script(path: string, lines: string, interpreter = "/bin/sh"): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!${interpreter}\n${lines}\n`);
  chmodSync(path, 0o755);
}

function link(at: string, to: string): void {
  mkdirSync(dirname(at), { recursive: true });
  symlinkSync(to, at);
}

/** Plays Codex: it says its version, and in a turn that it was reached. */
const answer = 'if [ "$1" = --version ]; then echo 9.9.9; else touch "$OVERSTORY_SCRATCH/reached"; fi';

/** It needs a package that was installed beside its own. */
const withSibling = `here="$(dirname "$(readlink -f "$0")")"; . "$here/../../../sibling/index.sh"; ${answer}`;

/** `installs` puts the program somewhere below the base or the home, and says which directory is in the PATH. */
const ways: Readonly<Record<string, (base: string, home: string) => string>> = {
  "by npm, with a link in a temporary prefix": (base) => {
    const modules = join(base, "npm/lib/node_modules");
    script(join(modules, "@openai/codex/bin/codex.js"), withSibling, "/usr/bin/env sh");
    script(join(modules, "sibling/index.sh"), "true");
    link(join(base, "npm/bin/codex"), "../lib/node_modules/@openai/codex/bin/codex.js");
    return join(base, "npm/bin");
  },
  "by its own installer, with a link to versions below .local/share": (_base, home) => {
    script(join(home, ".local/share/codex/versions/9.9.9/codex"), answer);
    link(join(home, ".local/bin/codex"), join(home, ".local/share/codex/versions/9.9.9/codex"));
    return join(home, ".local/bin");
  },
  "by pnpm, with a script that names the package": (_base, home) => {
    const real = "global/5/.pnpm/codex@9.9.9/node_modules/@openai/codex/bin/codex.js";
    script(join(home, ".local/share/pnpm", real), answer);
    script(join(home, ".local/share/pnpm/codex"), `exec "$(dirname "$0")/${real}" "$@"`);
    return join(home, ".local/share/pnpm");
  },
  "by volta in a temporary directory, with links to one shim": (base) => {
    script(join(base, "volta/tools/codex"), answer);
    script(join(base, "volta/bin/volta-shim"), 'exec "$(dirname "$0")/../tools/$(basename "$0")" "$@"');
    link(join(base, "volta/bin/codex"), "volta-shim");
    return join(base, "volta/bin");
  },
  "by asdf in a temporary directory, with a shim": (base) => {
    script(join(base, "asdf/installs/nodejs/20/bin/codex"), answer);
    script(join(base, "asdf/shims/codex"), `exec "${base}/asdf/installs/nodejs/20/bin/codex" "$@"`);
    return join(base, "asdf/shims");
  },
  "by nvm, with an interpreter that is a link too": (base) => {
    const version = join(base, "nvm/versions/node/v20");
    link(join(version, "bin/node"), join(base, "store/node-20/bin/node"));
    link(join(base, "store/node-20/bin/node"), "/bin/sh");
    script(join(version, "lib/node_modules/@openai/codex/bin/codex.js"), withSibling, "/usr/bin/env node");
    script(join(version, "lib/node_modules/sibling/index.sh"), "true");
    link(join(version, "bin/codex"), "../lib/node_modules/@openai/codex/bin/codex.js");
    return join(version, "bin");
  },
  "by fnm, behind a directory that is a link": (base) => {
    script(join(base, "fnm/installation/lib/codex"), answer);
    link(join(base, "fnm/installation/bin/codex"), "../lib/codex");
    link(join(base, "multishells/1"), join(base, "fnm/installation"));
    return join(base, "multishells/1/bin");
  },
  "in the directory of its vendor": (_base, home) => {
    script(join(home, ".codex/local/node_modules/.bin/codex"), answer);
    script(join(home, ".codex/local/codex"), `exec "${home}/.codex/local/node_modules/.bin/codex" "$@"`);
    writeFileSync(join(home, ".codex/auth.json"), "login\n");
    return join(home, ".codex/local");
  },
  "in a cache of the home": (_base, home) => {
    script(join(home, ".cache/tools/bin/codex"), `. "${home}/.cache/tools/lib/part.sh"; ${answer}`);
    script(join(home, ".cache/tools/lib/part.sh"), "true");
    return join(home, ".cache/tools/bin");
  },
};

const slung = (project: TestProject, path: string) =>
  project.ovWith({ env: { PATH: `${path}:${process.env.PATH}` } }, "sling", "T1", "--name", "a1", "--runtime", "codex");

for (const [way, install] of Object.entries(ways)) {
  testConfined(`a program that was installed ${way} starts under the sandbox`, async () => {
    await using project = await makeProject({ config: confining });
    const path = install(join(project.root, "..", "installed"), project.home);
    await project.json("task", "create", "Look", "--id", "T1");
    expect(await slung(project, path)).toMatchObject({ code: 0 });
    const scratch = statePath(project.root, "agents", "a1", "scratch");
    await project.until("it had started", async () => existsSync(join(scratch, "reached")));
  });
}

testConfined(
  "a program that needs files which the sandbox hides is refused by name before a seat is reserved",
  async () => {
    await using project = await makeProject({ config: confining });
    const base = join(project.root, "..", "installed");
    script(join(base, "tool/codex"), `. "${base}/part.sh" && ${answer}`);
    script(join(base, "part.sh"), "true");
    await project.json("task", "create", "Look", "--id", "T1");
    const refused = await slung(project, join(base, "tool"));
    expect(refused.code).toBe(3);
    expect(refused.err).toContain(`${base}/tool/codex --version failed where the system confines it`);
    expect(refused.err).toContain("part.sh");
    expect(refused.err).toContain("ov config set sandbox.readable");
    expect(await project.read((tx) => tx.agents.list({}))).toEqual([]);
    await project.json("config", "set", "sandbox.readable", JSON.stringify([base]));
    expect(await slung(project, join(base, "tool"))).toMatchObject({ code: 0 });
    const scratch = statePath(project.root, "agents", "a1", "scratch");
    await project.until("it had started", async () => existsSync(join(scratch, "reached")));
  },
);
