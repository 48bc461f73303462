import { expect, test } from "bun:test";
import { Failure } from "../../src/domain/failure.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

/** A commit on main that has one more file, under a name that git itself would not take. */
function commitWith(world: LandingWorld, name: string, mode = "100644"): string {
  const { root, git } = world;
  const run = (stdin: Buffer, ...args: string[]): string => {
    const done = Bun.spawnSync({ cmd: ["git", ...args], cwd: root, stdin });
    if (done.exitCode !== 0) throw new Error(done.stderr.toString());
    return done.stdout.toString().trim();
  };
  const entry = (mode: string, at: string, id: string): Buffer =>
    Buffer.concat([Buffer.from(`${mode} ${at}\0`), Buffer.from(id, "hex")]);
  const nameOf = (one: Buffer): string => one.toString("latin1", one.indexOf(" ") + 1, one.indexOf(0));
  const blob = run(Buffer.from("x\n"), "hash-object", "-w", "--stdin");
  const inOrder = (entries: Buffer[]): Buffer[] => entries.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const store = (...entries: Buffer[]): string =>
    run(Buffer.concat(inOrder(entries)), "hash-object", "-t", "tree", "--literally", "-w", "--stdin");
  const [dir = "", file] = name.split("/");
  const first = file === undefined ? entry(mode, dir, blob) : entry("40000", dir, store(entry(mode, file, blob)));
  const rest = git(root, "ls-tree", "main")
    .trim()
    .split("\n")
    .map((line) => {
      const [mode = "", , id = "", at = ""] = line.split(/\s/);
      return entry(mode.replace(/^0/, ""), at, id);
    });
  return git(root, "commit-tree", store(first, ...rest), "-p", "main", "-m", "evil").trim();
}

const names = ["../f", ".git/f", "a\\.git", ".git:a", `${"a".repeat(300)}`, `${"b".repeat(260)}/f`];
const links = [".gitmodules", "GITMOD~1", "a\\.gitmodules", "gi7eba~1"];
const all = [...names.map((name) => ({ name, mode: "100644" })), ...links.map((name) => ({ name, mode: "120000" }))];

test.each(all)("a branch with the file $name ($mode) goes back alone, and says why", async ({ name, mode }) => {
  await using world = await landingWorld({ gates: ["true"] });
  const bad = commitWith(world, name, mode);
  world.git(world.root, "update-ref", "refs/heads/evil", bad);
  const good = world.branch("fine", () => world.write(world.root, "fine.txt", "fine\n"));
  const evil = await world.enqueue("evil", { headCommit: bad, asker: "parent" });
  const fine = await world.enqueue("fine", { headCommit: good, asker: "parent" });
  await world.work();
  expect(await world.entry(evil)).toMatchObject({ status: "failed", cause: "git_error" });
  expect((await world.entry(evil)).causeDetail?.message).toContain("no checkout can hold its files");
  expect(await world.entry(fine)).toMatchObject({ status: "merged", verdict: "verified" });
});

test("a check of such a commit says that the commit is refused, and for which name", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  for (const { name, mode } of all) {
    const refused = await world.merging.checkOut(0, commitWith(world, name, mode)).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Failure);
    expect((refused as Failure).data).toMatchObject({
      kind: "commit-refused",
      problem: expect.stringContaining(name.slice(0, 4)),
    });
  }
});
