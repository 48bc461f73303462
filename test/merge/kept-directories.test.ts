import { expect, test } from "bun:test";
import { existsSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { aRun } from "../../testkit/contracts/store/rows.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

/** Setup installs a test runner, and the gate is that runner: as `npm ci` and `npm test`. */
const setup = "mkdir -p node_modules && echo 'test ! -e broken.txt' >node_modules/runner && echo ran >>\"$SETUPS\"";
const files = { ".gitignore": "node_modules/\ntarget/\n", "package-lock.json": "{1}\n" };

const adds = (world: LandingWorld, name: string, more: Readonly<Record<string, string>> = {}): string =>
  world.branch(name, () => {
    for (const [path, text] of Object.entries({ [`${name}.txt`]: `${name}\n`, ...more }))
      world.write(world.root, path, text);
  });

async function lands(world: LandingWorld, name: string): Promise<string> {
  const id = await world.enqueue(name);
  await world.work();
  const { status, verdict } = await world.entry(id);
  return verdict === null ? status : `${status} ${verdict}`;
}

/** How often setup has run: it appends to a file that is no part of the project. */
function counted(command: string, world: () => LandingWorld): { readonly setup: string; count(): number } {
  const file = "../../setups";
  const path = (): string => join(world().pool, "..", "setups");
  return {
    setup: command.replace('"$SETUPS"', `'${file}'`),
    count: () => (existsSync(path()) ? readFileSync(path(), "utf8").trim().split("\n").length : 0),
  };
}

test("a gate that writes into installed dependencies does not decide about the next branch", async () => {
  let made: LandingWorld | undefined;
  const runs = counted(setup, () => made as LandingWorld);
  const gates = ["sh node_modules/runner && { test ! -e poison.txt || echo true >node_modules/runner; }"];
  await using world = await landingWorld({ files, gates, merge: { setup: runs.setup, parallelGates: 1 } });
  made = world;
  adds(world, "poison");
  adds(world, "broken");
  adds(world, "good");
  expect(await lands(world, "poison")).toBe("merged verified");
  expect(await lands(world, "broken")).toBe("failed");
  expect(await lands(world, "good")).toBe("merged verified");
  expect(runs.count()).toBe(1);
});

test("a branch whose own script is run by setup does not install anything for others", async () => {
  const script = "mkdir -p node_modules && echo 'test ! -e broken.txt' >node_modules/runner\n";
  await using world = await landingWorld({
    files: { ...files, "tools/postinstall.sh": script },
    gates: ["sh node_modules/runner"],
    // Otherwise the branch would wait for the operator first.
    merge: { setup: "sh tools/postinstall.sh", parallelGates: 1, gateChanges: "allow" },
  });
  adds(world, "poison", { "tools/postinstall.sh": "mkdir -p node_modules && echo true >node_modules/runner\n" });
  adds(world, "broken");
  // Checked first, so that the branch would be the first to install.
  const id = await world.enqueue("poison", { asker: "operator" });
  await world.work();
  await world.undo(String(id));
  expect(await lands(world, "broken")).toBe("failed");
});

test("without a setup command nothing is kept at all", async () => {
  const gates = ["test ! -e node_modules && mkdir node_modules && test ! -e broken.txt"];
  await using world = await landingWorld({ files, gates });
  for (const name of ["a", "b"]) adds(world, name);
  expect([await lands(world, "a"), await lands(world, "b")]).toEqual(["merged verified", "merged verified"]);
});

test("merge.cache keeps a build cache, and the receipt says so", async () => {
  const gates = ['mkdir -p target && echo x >>target/count && test ! -e b.txt || test "$(wc -l <target/count)" -gt 1'];
  await using world = await landingWorld({ files, gates, merge: { cache: ["target"], parallelGates: 1 } });
  for (const name of ["a", "b"]) adds(world, name);
  expect(await lands(world, "a")).toBe("merged verified");
  expect(await lands(world, "b")).toBe("merged verified_with_gaps");
  const [receipt] = await world.store.read((tx) => tx.receipts.about("merge:2"));
  expect(receipt?.gaps).toEqual(["target was used as earlier gates left it (merge.cache)"]);
});

test("before promotion the tip is gated once with nothing kept", async () => {
  let made: LandingWorld | undefined;
  const runs = counted(
    'cp part?.txt ignored && mkdir -p node_modules && mv ignored node_modules/dep && echo ran >>"$SETUPS"',
    () => made as LandingWorld,
  );
  await using world = await landingWorld({
    files: { ...files, "parts.txt": "parts\n" },
    gates: ["test -e node_modules/dep"],
    merge: { setup: runs.setup, parallelGates: 1 },
  });
  made = world;
  await world.store.transaction((tx) => tx.runs.insert(aRun("r1", { targetBranch: "main", landingBranch: null })));
  const into = async (name: string): Promise<string> => {
    const id = await world.enqueue(name, { runId: "r1" });
    await world.work();
    return (await world.entry(id)).status;
  };
  adds(world, "good");
  expect(await into("good")).toBe("merged");
  expect(runs.count()).toBe(1);
  expect(await world.promote("r1")).toMatchObject({ status: "done", problem: null });
  expect(runs.count()).toBe(2);

  // Setup needs what this branch takes away; with what was installed before its gates pass all the same.
  world.branch("bad", () => unlinkSync(join(world.root, "parts.txt")));
  expect(await into("bad")).toBe("merged");
  const refused = await world.promote("r1");
  expect(refused).toMatchObject({ status: "dropped", request: { cause: "gate_failed" } });
  expect(refused.problem).toContain("with nothing kept from earlier gates the gate setup exited 1");
  expect(world.git(world.root, "ls-tree", "--name-only", "main", "parts.txt")).toBe("parts.txt");
});
