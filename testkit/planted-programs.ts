import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GitWorld } from "./contracts/worktrees/world.ts";

/** Every way we know in which configuration, attributes or hooks name a program. */
export function plantPrograms({ trap }: Pick<GitWorld, "trap">, gitDir: string): void {
  const config = `
[core]
	fsmonitor = ${trap}
	hooksPath = ${gitDir}/hooks
	sshCommand = ${trap}
	alternateRefsCommand = ${trap}
	pager = ${trap}
	editor = ${trap}
	askPass = ${trap}
[filter "x"]
	clean = ${trap}
	smudge = ${trap}
	process = ${trap}
	required = true
[diff]
	external = ${trap}
[diff "x"]
	command = ${trap}
	textconv = ${trap}
[merge]
	default = x
[merge "x"]
	driver = ${trap} %A
[alias]
	status = !${trap}
	rev-parse = !${trap}
	read-tree = !${trap}
[pager]
	status = ${trap}
	diff = ${trap}
[sequence]
	editor = ${trap}
[interactive]
	diffFilter = ${trap}
[lfs "extension.x"]
	clean = ${trap}
	smudge = ${trap}
[lfs "customtransfer.x"]
	path = ${trap}
[credential]
	helper = ${trap}
[gpg]
	program = ${trap}
[gpg "ssh"]
	program = ${trap}
	defaultKeyCommand = ${trap}
[commit]
	gpgSign = true
[log]
	showSignature = true
[uploadpack]
	packObjectsHook = ${trap}
[gc]
	auto = 1
	recentObjectsHook = ${trap}
`;
  writeFileSync(join(gitDir, "config"), config, { flag: "a" });
  for (const hook of hooks) {
    const path = join(gitDir, "hooks", hook);
    if (!existsSync(join(gitDir, "hooks"))) Bun.spawnSync({ cmd: ["mkdir", "-p", join(gitDir, "hooks")] });
    writeFileSync(path, `#!/bin/sh\nexec '${trap}' ${hook} < /dev/null\n`);
    chmodSync(path, 0o755);
  }
}

const hooks = [
  "post-checkout",
  "reference-transaction",
  "post-index-change",
  "pre-auto-gc",
  "post-commit",
  "fsmonitor-watchman",
  "pre-commit",
  "prepare-commit-msg",
  "commit-msg",
  "pre-merge-commit",
  "post-merge",
  "post-rewrite",
  "pre-push",
];
