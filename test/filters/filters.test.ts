import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { type FilterCase, filterCases, filterProject } from "./filters.world.ts";

const hasLfs = Bun.which("git-lfs") !== null;
if (!hasLfs && process.env.CI === "true") throw new Error("git-lfs is missing; scripts/ci-deps installs it");

/** Each looks at the file, changes it, and adds another that goes the same way. */
const scenario = ({ file }: FilterCase): string => `
- do:
    - shell: git status --porcelain > "$HOME/agent.status"; cp ${file} "$HOME/agent.before"
    - shell: touch -d 2001-01-01 ${file}; git status --porcelain >> "$HOME/agent.status"
    - shell: printf 'third line\\n' >> ${file}; cp ${file} "$HOME/agent.after"; cp ${file} new.${file}; git add -A
    - commit: work
    - shell: git status --porcelain >> "$HOME/agent.status"
    - ov: [done, --summary, Done]
`;

const gate = ({ file }: FilterCase): string =>
  `git status --porcelain >> "$HOME/gate.status"; cp ${file} "$HOME/gate.after"; cp new.${file} "$HOME/gate.new"`;

const bytes = (path: string): string => readFileSync(path).toString("latin1");

/** What plain git makes of the file that lies there now. */
const blobOf = async (project: TestProject, file: string): Promise<string> =>
  (await project.git("hash-object", "--path", file, file)).trim();

describe("agent, gate, landing and promotion give the bytes plain git gives", () => {
  for (const [what, filter] of Object.entries(filterCases)) {
    test.skipIf(filter.needsLfs === true && !hasLfs)(what, async () => {
      await using project = await filterProject(filter, { gates: [gate(filter)], scenario: scenario(filter) });
      const { root, home } = project;
      const { file } = filter;
      const before = bytes(join(root, file));
      for (const name of filter.confirm) await project.json("trust", "add", name);
      await slingNew(project, "B1");
      await untilAgent(project, "b1", "completed/done");
      expect(bytes(join(home, "agent.before"))).toBe(before);
      expect(bytes(join(home, "agent.status"))).toBe("");
      // What plain git makes of the agent's commit.
      await project.git("worktree", "add", "--quiet", "--detach", join(home, "plain"), "overstory/b1/B1");
      const plain = bytes(join(home, "plain", file));
      expect(plain.replaceAll("\r", "")).toBe(bytes(join(home, "agent.after")).replaceAll("\r", ""));
      await project.json("merge", "--branch", "overstory/b1/B1");
      expect(bytes(join(home, "gate.status"))).toBe("");
      expect(bytes(join(home, "gate.after"))).toBe(plain);
      expect(bytes(join(home, "gate.new"))).toBe(plain);
      await project.json("merge", "promote");
      expect(bytes(join(root, file))).toBe(plain);
      expect(bytes(join(root, `new.${file}`))).toBe(plain);
      for (const path of [file, `new.${file}`]) {
        expect((await project.git("rev-parse", `main:${path}`)).trim()).toBe(await blobOf(project, path));
      }
      expect(await project.git("status", "--porcelain", "--", ".", ":!.overstory")).toBe("");
    });
  }
});

describe("a filter that may not run", () => {
  const local = filterCases["a filter of the repository's configuration"] as FilterCase;

  test("is refused by name, with the next command, before any agent is there", async () => {
    await using project = await filterProject(local);
    await project.json("task", "create", "Work", "--id", "T1");
    for (const command of [
      ["sling", "T1"],
      ["sling", "T1", "--dry-run"],
      ["coordinator", "start", "--objective", "x"],
      ["go", "x", "--yes"],
    ]) {
      const refused = await project.ov(...command, "--json");
      expect([command[0], refused.code]).toEqual([command[0] as string, 3]);
      expect(jsonOf(refused)).toMatchObject({ error: expect.stringContaining("ov trust add rot") });
    }
    expect(await project.read((tx) => tx.agents.list({}))).toEqual([]);
    expect(await project.json("trust", "add", "rot")).toMatchObject({ programs: [{ standing: "confirmed" }] });
    expect(await project.ov("sling", "T1")).toMatchObject({ code: 0 });
  });

  test("is named with the next command by gates that were asked for, as a matter of the set-up", async () => {
    await using project = await filterProject(local, { gates: ["true"] });
    const refused = await project.ov("gate", "run", "--json");
    expect(refused.code).toBe(3);
    expect(jsonOf(refused)).toMatchObject({
      code: "CONFIG_ERROR",
      error: expect.stringContaining("ov trust add rot"),
      hint: "mend that first: it does not pass by itself",
    });
    expect(jsonOf(await project.ov("gate", "run", "nope", "--json"))).toMatchObject({
      exitCode: 7,
      hint: "name a branch, a commit or an agent: ov gate run <ref>",
    });
    await project.json("trust", "add", "rot");
    expect(await project.ov("gate", "run")).toMatchObject({ code: 0 });
  });

  test("is asked for by init, which can be told without a question", async () => {
    await using project = await filterProject(local);
    const first = await project.ov("init");
    expect(first.err).toContain("ov trust add rot");
    expect(await project.json("init")).toMatchObject({ unconfirmed: [{ name: "rot", standing: "unconfirmed" }] });
    expect(await project.ov("init", "--trust", "nope")).toMatchObject({ code: 2 });
    expect(await project.json("init", "--trust", "rot")).toMatchObject({ unconfirmed: [] });
  });

  test("is refused again after it was changed, and the list says so", async () => {
    await using project = await filterProject(local);
    await project.json("trust", "add", "rot");
    await project.git("config", "filter.rot.clean", "tr b a");
    expect(await project.json("trust", "list")).toMatchObject({ programs: [{ name: "rot", standing: "changed" }] });
    // A person who confirms it confirms each of its commands, so each is shown.
    const { out } = await project.ov("trust", "list");
    for (const key of ["clean", "smudge"])
      expect(out).toContain((await project.git("config", `filter.rot.${key}`)).trim());
    await project.json("task", "create", "Work", "--id", "T1");
    expect(await project.ov("sling", "T1")).toMatchObject({ code: 3, err: expect.stringContaining("has changed") });
    await project.json("trust", "add", "rot");
    await project.json("trust", "remove", "rot");
    expect(await project.json("trust", "list")).toMatchObject({ programs: [{ standing: "unconfirmed" }] });
  });

  test("cannot be confirmed by an agent", async () => {
    await using project = await filterProject(filterCases["eol=crlf"] as FilterCase, {
      scenario: `
- do:
    - shell: git config filter.mine.smudge "cat"; ov trust add mine > "$HOME/said" 2>&1; echo $? > "$HOME/code"
    - shell: env -u OVERSTORY_TOKEN ov init --trust mine >> "$HOME/said" 2>&1; echo $? >> "$HOME/code"
`,
    });
    await slingNew(project, "B1");
    await project.until("the agent tried", async () => {
      const file = join(project.home, "code");
      return existsSync(file) && readFileSync(file, "utf8").trim().split("\n").length === 2;
    });
    expect(readFileSync(join(project.home, "code"), "utf8")).toBe("8\n8\n");
    expect(await project.json("trust", "list")).toMatchObject({
      programs: [{ name: "mine", standing: "unconfirmed" }],
    });
  });

  test("that only a branch brings in sends that branch back and lets the others land", async () => {
    await using project = await filterProject(local, {
      gates: ["true"],
      scenario: "[]\n",
    });
    await project.json("trust", "add", "rot");
    for (const [name, attributes] of [
      ["good", ""],
      ["bad", "*.x filter=planted\n"],
    ] as const) {
      await project.git("checkout", "--quiet", "-b", name, "main");
      writeFileSync(join(project.root, `${name}.txt`), name);
      if (attributes !== "") writeFileSync(join(project.root, ".gitattributes"), `*.rot filter=rot\n${attributes}`);
      await project.git("add", `${name}.txt`, ".gitattributes");
      await project.git("commit", "--quiet", "-m", name);
      await project.git("checkout", "--quiet", "main");
    }
    await project.git("checkout", "--quiet", "-b", "elsewhere");
    for (const name of ["bad", "good"]) await project.json("merge", "add", name, "--into", "main");
    for (const name of ["bad", "good"]) await project.json("merge", "approve", name);
    await project.until("both are decided", async () => {
      const entries = await project.read((tx) => tx.merges.list({}));
      return entries.every(({ status }) => ["merged", "failed"].includes(status));
    });
    const entries = await project.read((tx) => tx.merges.list({}));
    const ended = Object.fromEntries(entries.map(({ branch, status }) => [branch, status]));
    expect(ended).toEqual({ bad: "failed", good: "merged" });
    expect(entries.find(({ branch }) => branch === "bad")?.causeDetail?.message).toContain('filter "planted"');
  });
});

/** Oldest first. */
const snapshotsOf = async ({ git }: TestProject): Promise<readonly string[]> => {
  const listed = await git("for-each-ref", "--sort=version:refname", "--format=%(refname)", "refs/overstory/snap/b1/");
  return listed.split("\n").filter((ref) => ref !== "");
};

test.skipIf(!hasLfs)("what only a snapshot keeps survives git lfs prune, as the bytes that lay there", async () => {
  const filter = filterCases["Git LFS, installed for the user"] as FilterCase;
  await using project = await filterProject(filter, {
    scenario: `
- do:
    - shell: printf committed > kept.bin; git add -A; git commit --quiet -m kept
    - shell: printf staged > staged.bin; git add -A; printf 'not added' > loose.bin
    - say: left as it is
`,
  });
  await slingNew(project, "B1");
  await project.until("the work is kept", async () => (await snapshotsOf(project)).length > 0);
  await project.json("stop", "b1", "--force");
  await project.git("update-ref", "-d", "refs/heads/overstory/b1/B1");
  await project.git("worktree", "remove", "--force", "--force", (await project.agent("b1")).worktreePath ?? "");
  await project.git("push", "--quiet", "origin", "main");
  await project.git("lfs", "prune", "--force", "--recent");
  const snapshot = (await snapshotsOf(project)).at(-1);
  for (const [file, text] of Object.entries({
    "kept.bin": "committed",
    "staged.bin": "staged",
    "loose.bin": "not added",
  })) {
    expect([file, await project.git("cat-file", "blob", `${snapshot}:${file}`)]).toEqual([file, text]);
  }
});

describe("a program that an agent put into the user's git configuration", () => {
  /** It tries to act as the operator, and leaves behind what it was told. */
  const grab = (what: string): string =>
    `mkdir -p "$HOME/grab"; { cd "$ROOT" && "$OV" task create Planted --id ${what}; echo "exit $?"; } >> "$HOME/grab/${what}" 2>&1`;
  const script = (what: string, then: string): string => `#!/bin/sh\n(${grab(what)})\n${then}\n`;
  const planted = `
- do:
    - shell: |
        for what in smudge gpg; do
          { echo "#!/bin/sh"; echo "OV=$(command -v ov) ROOT=$ROOT"; tail -n +2 "$HOME/$what.in"; } > "$HOME/$what.sh"
          chmod +x "$HOME/$what.sh"
        done
        git config --global filter.zz.smudge "$HOME/smudge.sh"
        git config --global gpg.program "$HOME/gpg.sh"
        git config --global commit.gpgSign true
        echo '*.txt filter=zz' > .gitattributes; echo q > q.txt; git add -A
    - commit: work
    - ov: [done, --summary, Done]
`;

  test("runs without the rights of the operator", async () => {
    await using project = await makeProject({
      gates: ["test -f q.txt"],
      scenario: planted,
      env: { GIT_CONFIG_NOSYSTEM: "1" },
    });
    const { home, root } = project;
    writeFileSync(join(home, "smudge.in"), script("smudge", "cat").replaceAll("$ROOT", root));
    writeFileSync(join(home, "gpg.in"), script("gpg", "exit 1").replaceAll("$ROOT", root));
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "completed/done");
    await project.ov("merge", "--branch", "overstory/b1/B1");
    for (const what of ["smudge", "gpg"]) {
      expect(readFileSync(join(home, "grab", what), "utf8")).toContain("limit of file locks");
      expect(await project.read((tx) => tx.tasks.get(what))).toBeUndefined();
    }
  });
});
