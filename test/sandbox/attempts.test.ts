import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { roles } from "../../src/domain/role/roles.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { confining, testConfined } from "../../testkit/sandboxed.ts";
import { statePath } from "../../testkit/state.ts";

/** Each line is one attempt by a program of an agent: its name, and a command that succeeds if the attempt does. */
const attempts = `
write-project       echo x > "$ROOT/planted.txt"
write-settings      echo 'sandbox: { mode: off }' >> "$ROOT/.overstory/config.yaml"
write-etc           echo x > /etc/planted-by-agent
delete-objects      rm -rf "$ROOT/.git/objects"
write-object        echo x > "$ROOT/.git/objects/planted"
rename-project      mv "$ROOT/.git" "$ROOT/.git2"
read-ssh            cat "$HOME/.ssh/id_test"
read-netrc          grep secret "$HOME/.netrc"
read-gh             cat "$HOME/.config/gh/hosts.yml"
read-aws            ls "$HOME/.aws/credentials"
read-snap           cat "$HOME/snap/firefox/common/.mozilla/firefox/p/logins.json"
read-flatpak        ls "$HOME/.var/app/org.mozilla.firefox"
read-ssh-by-link    cat "$HOME/keys/id_test"
read-sibling        cat "$ROOT/.overstory/worktrees/sibling/README.md"
list-siblings       ls "$ROOT/.overstory/worktrees" | grep sibling
write-sibling       echo x > "$ROOT/.overstory/worktrees/sibling/planted.txt"
add-project-hook    echo x > "$ROOT/.git/hooks/pre-commit"
set-project-config  git --git-dir="$ROOT/.git" config core.hooksPath /tmp
move-main           git --git-dir="$ROOT/.git" update-ref refs/heads/main "$(git --git-dir="$ROOT/.git" commit-tree -m x 'HEAD^{tree}')"
write-ref           echo x > "$ROOT/.git/refs/heads/planted"
push-main           git push "$ROOT" HEAD:refs/heads/planted
edit-rules          echo '{}' > "$STATE/agents/$OVERSTORY_AGENT_NAME/guard.json"
replace-rules       rm "$STATE/agents/$OVERSTORY_AGENT_NAME/guard.json"
edit-instructions   echo x > "$STATE/agents/$OVERSTORY_AGENT_NAME/instructions.md"
edit-shim           echo x > "$STATE/run/bin/ov"
kill-engine         kill -9 "$ENGINE"
kill-bystander      kill -9 "$BYSTANDER"
see-processes       test -d "/proc/$BYSTANDER"
read-database       test -s "$STATE/overstory.db"
read-environment    ls "$STATE"/run/env/*
read-other-state    ls "$HOME"/src/*/.git/ov-state/run/env/* || ls "$ROOT"/../beside/.git/ov-state/run/env/*
list-other-projects ls "$HOME/src" | grep other
read-documents      cat "$HOME/Documents/letter.txt"
read-logs           ls "$STATE/logs/sibling"
steal-token         cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep '^OVERSTORY_TOKEN=' | sort -u | grep -v "=$OVERSTORY_TOKEN$"
use-no-token        env -u OVERSTORY_TOKEN ov stop sibling
go-direct           env -u OVERSTORY_TOKEN -u OVERSTORY_CHANNEL ov stop sibling
go-direct-clean     env -i PATH="$PATH" HOME="$HOME" ov --project "$ROOT" stop sibling
start-engine        ov engine run --project "$ROOT"
raise-mark          (ulimit -H -w unlimited) 2>/dev/null
unmount-state       umount "$STATE"
remount             mount -o remount,rw "$ROOT"
reach-tmux          ls /tmp/tmux-*
reach-bus           ls /run/user/*/bus
enter-namespace     nsenter -t "$BYSTANDER" -m true
root-of-process     ls "/proc/$BYSTANDER/root" || ls "/proc/$ENGINE/root"
root-of-init        test -e /proc/1/root"$HOME/.ssh/id_test"
memory-of-process   dd if="/proc/$ENGINE/mem" of=/dev/null bs=1 count=1
ptrace              timeout 5 strace -f -p "$BYSTANDER" -o /dev/null
new-namespace       unshare -Urm sh -c 'umount -l "$HOME/.ssh" && cat "$HOME/.ssh/id_test"'
mount-over          unshare -Urm sh -c 'mount --bind /etc "$STATE" && test -s "$STATE/overstory.db"'
hard-link           ln "$ROOT/README.md" "$OVERSTORY_SCRATCH/linked" && echo x >> "$OVERSTORY_SCRATCH/linked"
link-and-write      ln -s "$ROOT" "$OVERSTORY_SCRATCH/root" && echo x > "$OVERSTORY_SCRATCH/root/planted.txt"
reach-socket        perl -MIO::Socket::UNIX -e 'exit(IO::Socket::UNIX->new(Peer => "$ENV{HOME}/service/daemon.sock") ? 0 : 1)'
ssh-agent           test -n "$SSH_AUTH_SOCK" || ls /tmp/ssh-*
session-bus         test -n "$DBUS_SESSION_BUS_ADDRESS" || ls /run/dbus/system_bus_socket
type-in-terminal    perl -e 'open(T, "+<", "/dev/tty") or exit 1; exit(ioctl(T, 0x5412, "x") ? 0 : 1)'
read-disk           dd if=/dev/sda of=/dev/null count=1 || mknod "$OVERSTORY_SCRATCH/disk" b 8 0
kernel-settings     echo planted > /proc/sys/kernel/hostname || test -w /proc/sys/kernel/core_pattern
replace-output      mv "$TURN/stdout.ndjson" "$TURN/other" || ln -sf "$HOME/.netrc" "$TURN/stderr.log" || rm "$TURN/input.json"
unknown-token       OVERSTORY_TOKEN=nobodys ov stop sibling
siblings-token      OVERSTORY_TOKEN="$STOLEN" ov mail send --to operator --subject forged --body forged
look-as-sibling     OVERSTORY_TOKEN="$STOLEN" ov mail list
siblings-mark       (ulimit -S -w "$MARK" && ulimit -H -w "$MARK" && OVERSTORY_TOKEN="$STOLEN" ov mail send --to operator --subject forged --body forged)
leave-and-send      (ulimit -S -w "$MARK"; ulimit -H -w "$MARK"; OVERSTORY_TOKEN="$STOLEN" setsid -w ov mail send --to operator --subject forged --body forged)
name-a-program      mkdir -p "$OVERSTORY_SCRATCH/bin"; printf '#!/bin/sh\\ntouch "%s/planted"\\n' "$ROOT" > "$OVERSTORY_SCRATCH/bin/claude"; chmod +x "$OVERSTORY_SCRATCH/bin/claude"; PATH="$OVERSTORY_SCRATCH/bin:$PATH" ov sling "some new work" --runtime claude; test -e "$ROOT/planted"
option-as-commit    . "$FRAMES"; send "$(frame branch.listStaleSubmodules '"branch":"main","from":"HEAD","to":"--output='"$ROOT"'/planted"')" "$(frame branch.listMovedFiles '"from":"HEAD","to":"--output='"$ROOT"'/planted"')" "$(frame branch.listChanges '"target":"main","branch":"main","commit":"--output='"$ROOT"'/planted"')" "$(frame merge.showPatch '"branch":"main","targetBranch":"main","resultCommit":null,"headCommit":"--output='"$ROOT"'/planted"')"; test -e "$ROOT/planted"
can-ask             ov mail list
can-read-tools      test -s "$HOME/go/pkg/mod.txt" && test -s "$HOME/.toolrc"
can-connect         perl -MIO::Socket::UNIX -e 1
can-send-frames     . "$FRAMES"; send "$(frame identity.self '')" | grep '"ok":true'
can-see-its-turn    test -s "$TURN/input.json"
`;

/** Requests to the engine that no command of ours makes. */
const frames = `
frame() { printf '{"name":"%s","request":{%s},"token":"%s","requestId":"request-%s-%s"}' "$1" "$2" "$OVERSTORY_TOKEN" "$1" "$$"; }
send() {
  socket="$(sed 's/.*"socket":"\\([^"]*\\)".*/\\1/' "$STATE/run/engine.json")"
  perl -MIO::Socket::UNIX -e 'my $at = shift; for (@ARGV) { my $to = IO::Socket::UNIX->new(Peer => $at) or exit 1; print $to "$_\\n"; print scalar <$to> }' "$socket" "$@"
}
`;

/** Not attempts: without them some of the attempts would fail for another reason. */
const controls = ["can-ask", "can-read-tools", "can-connect", "can-send-frames", "can-see-its-turn"];

const inWorktree = `
add-hook            echo x > .git/hooks/pre-commit
hooks-by-config     git config core.hooksPath .
move-git            mv .git git2
move-hooks          mv .git/hooks .git/hooks2
edit-alternates     echo /tmp >> .git/objects/info/alternates
move-objects        mv .git/objects .git/objects2
edit-own-instructions echo x >> .claude/CLAUDE.md
move-instructions   mv .claude .claude2
hostile-config      git config core.fsmonitor 'touch /tmp/x' || git config filter.x.clean 'touch /tmp/x'
config-by-link      ln -sf /tmp/config .git/config
instructions-by-link ln -sf "$ROOT/README.md" .claude/CLAUDE.md
`;

const linesOf = (table: string): readonly (readonly [name: string, command: string])[] =>
  table
    .trim()
    .split("\n")
    .map((line) => [line.split(/\s+/, 1)[0] ?? "", line.replace(/^\S+\s+/, "")] as const);

const script = (table: string): string =>
  linesOf(table)
    .map(([name, command]) => `if ( ${command} ) >"$OUT/${name}.log" 2>&1 </dev/null; then echo "${name}"; fi`)
    .join("\n");

/** Makes the attempts in the first turn and keeps the names of those that succeeded in its scratch directory. */
const scenario = (base: string): string => `
- when: { agent: sibling }
  do:
    - edit: { file: secret.txt, write: "of the sibling" }
    - touch: \${env.OVERSTORY_SCENARIO_STATE}/sibling-is-there
    - waitFor: { file: "${base}/never" }
- do:
    - shell: 'OUT="$OVERSTORY_SCRATCH/out"; mkdir -p "$OUT"; . \${env.OVERSTORY_SCENARIO_STATE}/facts.sh; . \${env.OVERSTORY_SCENARIO_STATE}/attempts.sh > "$OVERSTORY_SCRATCH/succeeded"'
    - shell: echo reached > "$OVERSTORY_SCRATCH/reached"
`;

const settings = `${confining}watchdog:\n  tier2Enabled: true\n`;

async function planted(): Promise<TestProject> {
  const project = await makeProject({ config: settings, scenario: scenario("/nowhere"), gates: ["true"] });
  const { home, root } = project;
  const files = {
    ".ssh/id_test": "secret",
    ".netrc": "machine x password secret",
    ".config/gh/hosts.yml": "secret",
    ".aws/credentials": "secret",
    "snap/firefox/common/.mozilla/firefox/p/logins.json": "secret",
    ".var/app/org.mozilla.firefox/logins.json": "secret",
    "src/other/.git/ov-state/run/env/a.json": "secret",
    "Documents/letter.txt": "secret",
    "go/pkg/mod.txt": "x",
    "dotfiles/toolrc": "x",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(home, path, ".."), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  await Bun.$`ln -s .ssh ${home}/keys && ln -s dotfiles/toolrc ${home}/.toolrc`.quiet();
  const beside = join(root, "..", "beside", ".git", "ov-state", "run", "env");
  mkdirSync(beside, { recursive: true });
  writeFileSync(join(beside, "a.json"), "secret");
  await project.json("task", "create", "Wait", "--id", "T0");
  await project.json("sling", "T0", "--name", "sibling", "--capability", "lead");
  await project.until("the sibling worked", async () => existsSync(join(project.state, "sibling-is-there")));
  expect(existsSync(join(root, ".overstory/worktrees/sibling/secret.txt"))).toBe(true);
  return project;
}

const snapshotOf = async (project: TestProject): Promise<unknown> => ({
  refs: (await project.git("for-each-ref", "refs/heads/main", "refs/heads/planted")).trim(),
  config: readFileSync(join(project.root, ".git/config"), "utf8"),
  hooks: readdirSync(join(project.root, ".git/hooks")),
  files: readdirSync(project.root),
  settings: readFileSync(join(project.root, ".overstory/config.yaml"), "utf8"),
  home: readdirSync(project.home),
});

/** They have no worktree, and are called by their capability. */
const withoutWorktree = ["coordinator", "orchestrator", "monitor"] as const;
const capabilities = ["builder", "reviewer", "scout", "merger", "lead", ...withoutWorktree] as const;

test("agents of every capability make the attempts", () => {
  expect(capabilities.toSorted()).toEqual(Object.keys(roles).toSorted() as (typeof capabilities)[number][]);
});

const isWithoutWorktree = (capability: string): boolean => withoutWorktree.some((one) => one === capability);

for (const capability of capabilities) {
  testConfined(`a confined ${capability} reaches nothing but its own`, async () => {
    await using project = await planted();
    mkdirSync(join(project.home, "service"));
    using _daemon = daemonAt(join(project.home, "service", "daemon.sock"));
    const bystander = Bun.spawn({ cmd: ["sleep", "1000"], stdio: ["ignore", "ignore", "ignore"] });
    try {
      const { token: stolen, mark } = await tokenOf(project, "sibling");
      const engine = JSON.parse(readFileSync(statePath(project.root, "run", "engine.json"), "utf8")).pid;
      const facts = {
        ROOT: project.root,
        STATE: statePath(project.root),
        ENGINE: engine,
        BYSTANDER: bystander.pid,
        STOLEN: stolen,
        MARK: mark,
        FRAMES: join(project.state, "frames.sh"),
      };
      writeFileSync(facts.FRAMES, frames);
      const lines = Object.entries(facts).map(([name, value]) => `export ${name}='${value}'\n`);
      const turn = 'export TURN="$(dirname "$(find "$STATE/logs" -name stdout.ndjson | head -n 1)")"\n';
      writeFileSync(join(project.state, "facts.sh"), lines.join("") + turn);
      const table = isWithoutWorktree(capability) ? attempts : attempts + inWorktree.trimStart();
      writeFileSync(join(project.state, "attempts.sh"), `${script(table)}\n`);
      const before = await snapshotOf(project);
      const name = await begin(project, capability);
      const scratch = statePath(project.root, "agents", name, "scratch");
      await project.until("all attempts were made", async () => existsSync(join(scratch, "reached")));
      const succeeded = readFileSync(join(scratch, "succeeded"), "utf8").trim();
      expect(succeeded.split("\n").filter((line) => line !== "")).toEqual(controls);
      expect(await snapshotOf(project)).toEqual(before);
      expect(bystander.exitCode).toBe(null);
      expect((await project.agent("sibling")).state).toBe("in_turn");
      await project.git("fsck", "--connectivity-only");
    } finally {
      bystander.kill("SIGKILL");
      await bystander.exited;
    }
  });
}

/** A program of the user that does what it is asked by whoever connects. */
function daemonAt(unix: string): Disposable {
  const server = Bun.listen({ unix, socket: { data: () => {} } });
  return { [Symbol.dispose]: () => server.stop(true) };
}

async function begin(project: TestProject, capability: (typeof capabilities)[number]): Promise<string> {
  if (isWithoutWorktree(capability)) {
    if (capability === "orchestrator") await project.json("orchestrator", "start", "--no-attach");
    else await project.json("coordinator", "start", "--no-attach", ...(capability === "monitor" ? ["--monitor"] : []));
    await project.json("mail", "send", "--to", capability, "--type", "dispatch", "--subject", "x", "--body", "x");
    return capability;
  }
  await project.json("task", "create", "Try", "--id", "T1");
  const parent = capability === "reviewer" || capability === "merger" ? ["--parent", "sibling"] : [];
  await project.json("sling", "T1", "--name", "a1", "--capability", capability, ...parent);
  return "a1";
}

/** The token and the mark of a live agent, as the operator's machine knows them. */
async function tokenOf(project: TestProject, name: string): Promise<{ token: string; mark: string }> {
  for (const pid of project.processes()) {
    try {
      const env = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
      const token = env.find((line) => line.startsWith("OVERSTORY_TOKEN="));
      if (token !== undefined && env.includes(`OVERSTORY_AGENT_NAME=${name}`))
        return {
          token: token.slice("OVERSTORY_TOKEN=".length),
          mark: /^Max file locks +\S+ +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))?.[1] ?? "",
        };
    } catch {
      // It has ended meanwhile.
    }
  }
  throw new Error(`no process of ${name} was found`);
}
