import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gate, gateWorld } from "../../../testkit/gate-world.ts";
import type { GateResult } from "../../domain/gate/gate.ts";
import type { GateProgress } from "./run-gates.ts";

const outcomes = (results: readonly GateResult[]): string[] => results.map((one) => `${one.gate} ${one.status}`);

describe("running gates", () => {
  test("each gate runs on the one checkout of the commit, and its result is stored with its evidence", async () => {
    using world = gateWorld();
    const { run, did, stored, dir } = world;
    const { results, passed, failures } = await run([gate("Tests", "cat commit"), gate("a/../b", "echo lint")]);
    expect({ passed, failures, outcomes: outcomes(results) }).toEqual({
      passed: true,
      failures: [],
      outcomes: ["Tests passed", "a/../b passed"],
    });
    expect(did).toEqual([
      "checkout 0 c1 keep node_modules",
      "gate.after-checkout",
      "gate.after-run",
      "checkout 0 c1 keep node_modules, rest stays",
      "gate.after-run",
    ]);
    expect(stored).toEqual([...results]);
    expect(results[0]).toMatchObject({
      tree: "t1",
      command: "cat commit",
      exitCode: 0,
      flaky: false,
      createdAt: 1_000,
    });
    expect(results.map(({ logPath }) => logPath)).toEqual([
      join(dir, "logs/0/1-Tests.log"),
      join(dir, "logs/0/2-a-b.log"),
    ]);
    expect(readFileSync(results[0]?.logPath ?? "", "utf8")).toBe("c1");
  });

  test("the first required gate that does not pass stops the run; an optional one only reports", async () => {
    using world = gateWorld();
    const { run } = world;
    const gates = [
      gate("Lint", "exit 1", { required: false }),
      gate("Tests", "echo broken; exit 2"),
      gate("Never", "touch never"),
    ];
    const { results, passed, failures } = await run(gates);
    expect(outcomes(results)).toEqual(["Lint failed", "Tests failed"]);
    expect([passed, failures.map(({ tail, result }) => [result.gate, tail])]).toEqual([false, [["Tests", "broken\n"]]]);
  });

  test("where all are asked a gate that fails keeps none of the others from it, known results or not", async () => {
    using world = gateWorld();
    const { run } = world;
    const gates = [gate("Lint", "exit 1"), gate("Tests", "exit 2"), gate("Types", "true")];
    for (const tail of ["", undefined]) {
      const { results, passed, failures } = await run(gates, { askAll: true });
      expect(outcomes(results)).toEqual(["Lint failed", "Tests failed", "Types passed"]);
      expect([passed, failures.map((failure) => [failure.result.gate, failure.tail])]).toEqual([
        false,
        [
          ["Lint", tail],
          ["Tests", tail],
        ],
      ]);
    }
  });

  test("a gate for other files is left out, and with nothing to run nothing is checked out", async () => {
    using world = gateWorld();
    const { run, did } = world;
    const web = gate("Web", "true", { paths: ["web/**"] });
    expect(await run([web])).toEqual({ results: [], passed: true, failures: [] });
    expect(did).toEqual([]);
    expect(outcomes((await run([web], { changedFiles: ["web/a.css"] })).results)).toEqual(["Web passed"]);
    expect(outcomes((await run([web], { changedFiles: undefined })).results)).toEqual(["Web passed"]);
  });

  test("commands are told what changed, with names that hold newlines too", async () => {
    using world = gateWorld();
    const { run } = world;
    const command = 'printf "%s %s " "$OVERSTORY_MERGE_BASE" "$OVERSTORY_MERGE_HEAD"; cat "$OVERSTORY_CHANGED_FILES"';
    const { results } = await run([gate("Told", command)], { changedFiles: ["a\nb", "ü"] });
    expect(readFileSync(results[0]?.logPath ?? "", "utf8")).toBe("c0 c1 a\nb\0ü\0");
  });

  test("a listener hears starts, output and ends", async () => {
    using world = gateWorld();
    const { run } = world;
    const heard: GateProgress[] = [];
    await run([gate("Tests", "echo hello")], { onProgress: (progress) => heard.push(progress) });
    expect(heard).toMatchObject([
      { kind: "started", gate: "Tests" },
      { kind: "output", gate: "Tests", text: "hello\n" },
      { kind: "finished", cached: false, result: { status: "passed" } },
    ]);
  });

  test("an aborted run stores nothing and leaves no process on record as living", async () => {
    using world = gateWorld();
    const { run, stored, living } = world;
    const abort = new AbortController();
    const running = run([gate("Slow", "echo up; sleep 60")], {
      signal: abort.signal,
      onProgress: ({ kind }) => kind === "output" && abort.abort(new Error("enough")),
    });
    await expect(running).rejects.toThrow("enough");
    expect([stored.length, living()]).toEqual([0, 0]);
  });
});

describe("earlier results", () => {
  test("a tree that passed is not checked again, under whatever commit or name", async () => {
    using world = gateWorld();
    const { run, did, ran } = world;
    const { results } = await run([gate("Tests", "true")]);
    did.length = 0;
    const again = await run([gate("Unit tests", "true")], { commit: "c2" });
    expect(did).toEqual([]);
    expect(again).toMatchObject({ passed: true, results: [{ ...results[0], gate: "Unit tests" }] });
    await run([gate("Tests", "true")], { tree: "t2" });
    await run([gate("Tests", "true", { timeoutMs: 9_000 })]);
    await run([gate("Tests", "true")], { keepIgnored: [] });
    expect(ran()).toBe(3);
  });

  test("only what is missing is run", async () => {
    using world = gateWorld();
    const { run, ran } = world;
    await run([gate("A", "echo a")]);
    const { results } = await run([gate("A", "echo a"), gate("B", "echo b")]);
    expect([outcomes(results), ran()]).toEqual([["A passed", "B passed"], 2]);
  });

  test("without the cache everything is run", async () => {
    using world = gateWorld();
    const { run, ran } = world;
    await run([gate("A", "true")]);
    await run([gate("A", "true")], { useCache: false });
    expect(ran()).toBe(2);
  });

  test("a failure counts until it is asked to be run again; then a pass on the same tree is flaky, and stays so", async () => {
    using world = gateWorld();
    const { run, ran, dir } = world;
    const flaky = [gate("Tests", `test -e '${dir}/second' || { touch '${dir}/second'; exit 1; }`)];
    expect((await run(flaky)).passed).toBe(false);
    const served = await run(flaky);
    expect([served.passed, served.failures[0]?.tail, ran()]).toEqual([false, undefined, 1]);
    const rerun = await run(flaky, { rerunFailed: true });
    expect([rerun.passed, rerun.results[0]?.flaky, ran()]).toEqual([true, true, 2]);
    expect((await run(flaky)).results[0]?.flaky).toBe(true);
    expect((await run(flaky, { useCache: false })).results[0]?.flaky).toBe(true);
  });

  test("a gate that could not be run is always tried again, and its pass is no flaky one", async () => {
    using world = gateWorld();
    const { run, dir } = world;
    const tool = gate("Tool", `'${dir}/tool'`);
    expect(outcomes((await run([tool])).results)).toEqual(["Tool could_not_run"]);
    writeFileSync(join(dir, "tool"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    expect((await run([tool])).results).toMatchObject([{ status: "passed", flaky: false }]);
  });
});

describe("setup", () => {
  const tests = gate("Tests", "test -e node_modules/dep");
  const setup = "mkdir -p node_modules && echo x >node_modules/dep";

  test("dependencies are installed where none were kept, and then kept", async () => {
    using world = gateWorld();
    const { run, stored, did } = world;
    const first = await run([tests], { setup });
    expect(outcomes(first.results)).toEqual(["Tests passed"]);
    expect(first.results[0]?.kept).toEqual([]);
    did.length = 0;
    const second = await run([tests], { setup, tree: "t2" });
    expect(second.results[0]?.kept).toEqual(["node_modules"]);
    expect(existsSync(join(second.results[0]?.logPath ?? "", "../0-setup.log"))).toBe(false);
    expect(outcomes(stored)).toEqual(["Tests passed", "Tests passed"]);
  });

  test("a setup that fails stops everything, is no fault of the tree, and keeps nothing half-installed", async () => {
    using world = gateWorld();
    const { run, did, dir } = world;
    const broken = "mkdir node_modules; echo no network; exit 1";
    const { results, passed, failures } = await run([tests], { setup: broken });
    expect([passed, outcomes(results), failures[0]?.tail]).toEqual([false, ["setup could_not_run"], "no network\n"]);
    expect([did.at(-2), existsSync(join(dir, "installed"))]).toEqual(["gate.after-checkout", false]);
    expect(outcomes((await run([tests], { setup })).results)).toEqual(["Tests passed"]);
  });

  test("an aborted setup keeps nothing half-installed either", async () => {
    using world = gateWorld();
    const { run, dir } = world;
    const abort = new AbortController();
    const running = run([tests], {
      setup: "mkdir node_modules; echo up; sleep 60",
      signal: abort.signal,
      onProgress: ({ kind }) => kind === "output" && abort.abort(new Error("enough")),
    });
    await expect(running).rejects.toThrow("enough");
    expect(existsSync(join(dir, "installed"))).toBe(false);
  });

  test("nothing is installed for gates whose results are known", async () => {
    using world = gateWorld();
    const { run, did } = world;
    await run([gate("Tests", "true")], { setup });
    did.length = 0;
    await run([gate("Tests", "true")], { setup });
    expect(did).toEqual([]);
  });
});
