import { expect } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject } from "../../testkit/project.ts";
import { confining, testConfined } from "../../testkit/sandboxed.ts";
import { statePath } from "../../testkit/state.ts";

/** A test that a branch brings, which the gate runs: it tries to act as the engine that started the gate. */
const hostile = (root: string, state: string) => `
exec 2>&1
n() { echo "TRIED $1"; }
n token;    cat /proc/[0-9]*/environ | tr '\\\\0' '\\\\n' | grep -q ^OVERSTORY_TOKEN= && echo REACHED token
n database; test -s '${state}/overstory.db' && echo REACHED database
n socket;   test -e '${state}/run/contact/engine.sock' && echo REACHED socket
n project;  echo x > '${root}/planted.txt' && echo REACHED project
n objects;  rm -rf '${root}/.git/objects' && echo REACHED objects
n ref;      echo x > '${root}/.git/refs/heads/planted' && echo REACHED ref
n hook;     echo x > '${root}/.git/hooks/pre-commit' && echo REACHED hook
n ssh;      cat "$HOME/.ssh/id_test" && echo REACHED ssh
n login;    cat "$HOME/moved-codex/auth.json" && echo REACHED login
n gh;       cat "$HOME/settings/gh/hosts.yml" && echo REACHED gh
n worktree; ls '${root}/.overstory/worktrees' | grep -q b1 && echo REACHED worktree
n home;     echo x > "$HOME/planted.txt"
n ov;       ov stop b1 && echo REACHED ov
echo "END OF ATTEMPTS"
`;

testConfined("a hostile gate, filter or monitor of a branch acts on nothing outside of its checkout", async () => {
  const gate = "for t in tests/*.sh; do sh $t; done; echo made > built.txt; git status --short >/dev/null";
  await using project = await makeProject({
    // A script that the gate runs would wait for the operator otherwise.
    config: `${confining}merge: { gateChanges: allow }\n`,
    gates: [gate],
    files: { "README.md": "# Sample\n", "tests/one.sh": "true\n" },
    scenario: `
- do:
    - shell: cp "$OVERSTORY_SCENARIO_STATE/hostile.sh" tests/two.sh
    - shell: echo '*.txt filter=evil' > "$(git rev-parse --git-path info/attributes)"
    - shell: git config filter.evil.clean "touch $OVERSTORY_SCENARIO_STATE/filtered" || git config core.fsmonitor "touch $OVERSTORY_SCENARIO_STATE/monitored"
      allowFail: true
    - edit: { file: a.txt, write: "x" }
    - commit: "Add a test"
    - ov: [done, --summary, "A test is there."]
    - say: Done.
`,
  });
  mkdirSync(join(project.home, ".ssh"));
  writeFileSync(join(project.home, ".ssh/id_test"), "secret");
  writeFileSync(join(project.state, "hostile.sh"), hostile(project.root, statePath(project.root)));
  const moved = join(project.home, "moved-codex");
  mkdirSync(moved);
  writeFileSync(join(moved, "auth.json"), "secret");
  const settings = join(project.home, "settings");
  mkdirSync(join(settings, "gh"), { recursive: true });
  writeFileSync(join(settings, "gh", "hosts.yml"), "secret");
  await project.json("task", "create", "Test", "--id", "T1");
  const slung = await project.ovWith(
    { env: { CODEX_HOME: moved, XDG_CONFIG_HOME: settings } },
    "sling",
    "T1",
    "--name",
    "b1",
  );
  expect(slung).toMatchObject({ code: 0 });
  await project.until("it was done", async () => (await project.agent("b1")).outcome === "done");
  await project.settled();
  expect(await project.json("merge", "--branch", "overstory/b1/T1")).toMatchObject({ success: true });
  const logs = [...new Bun.Glob("**/*.log").scanSync(statePath(project.root, "logs"))]
    .map((path) => readFileSync(statePath(project.root, "logs", path), "utf8"))
    .filter((text) => text.includes("TRIED token"));
  expect(logs.length).toBeGreaterThan(0);
  for (const log of logs) {
    expect(log).toContain("END OF ATTEMPTS");
    expect(log.split("\n").filter((line) => line.startsWith("REACHED"))).toEqual([]);
  }
  for (const path of [
    "repo/planted.txt",
    "home/planted.txt",
    "state/filtered",
    "state/monitored",
    "repo/.git/hooks/pre-commit",
  ]) {
    expect([path, existsSync(join(project.root, "..", path))]).toEqual([path, false]);
  }
  await project.git("fsck", "--connectivity-only");
});
