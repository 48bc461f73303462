import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { plantedSecrets, secretSorts } from "../../testkit/secrets.ts";

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly message: string;
  readonly details: readonly string[];
  readonly affects: string | null;
  readonly next: string | null;
}

/** One check of `ov doctor`, and the exit code. */
async function check(project: TestProject, category: string, id: string): Promise<Shown & { readonly code: number }> {
  const answer = await project.ov("doctor", "--category", category, "--json");
  const checks = jsonOf(answer).checks as readonly Shown[];
  const found = checks.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no check ${id}: ${checks.map((one) => one.id).join(", ")}`);
  return { ...found, code: answer.code };
}

const secretOf = (sort: string): string =>
  plantedSecrets(secretSorts.length).find((each) => each.sort === sort)?.text ?? "";

async function committed(files: Readonly<Record<string, string>>): Promise<TestProject> {
  const project = await makeProject({ files: { "README.md": "# Sample\n", ...files } });
  await project.ov("init", "--yes");
  await project.git("add", "-A");
  await project.git("commit", "--quiet", "--allow-empty", "-m", "settings");
  return project;
}

test("tracked-secrets: a tracked file with the name of a key is named, an ignored one is not", async () => {
  await using project = await committed({ "deploy/id_rsa": "", ".gitignore": ".env\n", ".env": "" });
  expect(await check(project, "security", "tracked-secrets")).toMatchObject({
    status: "warn",
    details: ["deploy/id_rsa"],
    code: 0,
  });
  await project.git("rm", "--quiet", "--cached", "deploy/id_rsa");
  expect(await check(project, "security", "tracked-secrets")).toMatchObject({ status: "pass", next: null });
}, 60_000);

test("secrets-in-files: the lines of keys are named, never the keys, and the file can be taken out", async () => {
  const [aws, anthropic] = [secretOf("AWS key id"), secretOf("Anthropic key")];
  await using project = await committed({
    "secrets.env": `REGION=eu\nAWS_ACCESS_KEY_ID=${aws}\nANTHROPIC_API_KEY=${anthropic}\n`,
  });
  const answer = await project.ov("doctor", "--category", "security");
  expect(answer.out).toContain("secrets.env:2\n");
  expect(answer.out).toContain("secrets.env:3\n");
  expect(answer.out + answer.err).not.toContain(aws);
  expect(answer.out + answer.err).not.toContain(anthropic.slice(8));
  const found = await check(project, "security", "secrets-in-files");
  expect(found).toMatchObject({ status: "warn", details: ["secrets.env:2", "secrets.env:3"], code: 0 });
  expect(found.next).toContain("git rm --cached secrets.env");
  await project.git("rm", "--quiet", "--cached", "secrets.env");
  expect(await check(project, "security", "secrets-in-files")).toMatchObject({ status: "pass", details: [] });
}, 60_000);

test("secrets-in-files: ov config set warns of an address that is a secret, and its advice mends it", async () => {
  await using project = await committed({});
  const address = "https://hooks.example.org/catch/9f8c7b6a5d4e3f2a1b0c";
  const set = await project.ov("config", "set", "notify.webhook", address);
  expect(set.code).toBe(0);
  expect(set.err).toContain("ov config set notify.webhook <value> --local && ov config unset notify.webhook");
  expect(set.err).not.toContain("9f8c7b6a");
  const found = await check(project, "security", "secrets-in-files");
  expect(found).toMatchObject({ status: "warn", details: [expect.stringMatching(/^\.overstory\/config\.yaml:\d+$/)] });
  expect(found.next).toContain("ov config set notify.webhook <value> --local && ov config unset notify.webhook");
  const local = await project.ov("config", "set", "notify.webhook", address, "--local");
  expect(local.err).toBe("");
  await project.json("config", "unset", "notify.webhook");
  expect(await project.json("config", "get", "notify.webhook")).toMatchObject({ value: address });
  expect(await check(project, "security", "secrets-in-files")).toMatchObject({ status: "pass" });
  expect((await project.ov("config", "set", "notify.webhook", "https://example.org/hooks/ov")).err).not.toContain(
    "secret",
  );
}, 60_000);

test("git-version: a git that cannot merge without a checkout is a failure", async () => {
  await using project = await committed({});
  expect(await check(project, "git", "git-version")).toMatchObject({ status: "pass" });
  const real = Bun.which("git") ?? "";
  const bin = join(project.home, "bin");
  mkdirSync(bin);
  const script = `#!/bin/sh\ncase " $* " in *" --version "*) echo git version 2.30.1;; *) exec ${real} "$@";; esac\n`;
  writeFileSync(join(bin, "git"), script);
  chmodSync(join(bin, "git"), 0o755);
  const env = { PATH: `${bin}:${project.env.PATH}` };
  const answer = await project.ovWith({ env }, "doctor", "--category", "git", "--json");
  const checks = jsonOf(answer).checks as readonly Shown[];
  expect(checks.find(({ id }) => id === "git-version")).toMatchObject({
    status: "fail",
    message: "git 2.30.1 is older than 2.38",
    next: "install a newer git",
  });
  expect(answer.code).toBe(5);
}, 60_000);

test("canonical-branch-exists: the branch that is missing is made by the command that is shown", async () => {
  await using project = await committed({});
  await project.json("config", "set", "project.canonicalBranch", "main");
  await project.git("branch", "-m", "main", "trunk");
  const found = await check(project, "config", "canonical-branch-exists");
  expect(found).toMatchObject({ status: "warn", message: expect.stringContaining("there is no branch main"), code: 0 });
  expect(found.next).toStartWith("git branch main, or: ov config set project.canonicalBranch <name>");
  await project.git("branch", "main");
  expect(await check(project, "config", "canonical-branch-exists")).toMatchObject({ status: "pass" });
}, 60_000);

test("config-valid: a setting that cannot be used is a failure with its line", async () => {
  await using project = await committed({});
  const path = join(project.root, ".overstory", "config.yaml");
  const good = readFileSync(path, "utf8");
  writeFileSync(path, `${good}agents:\n  maxConcurrent: many\n`);
  expect(await check(project, "config", "config-valid")).toMatchObject({
    status: "fail",
    message: "1 setting cannot be used",
    details: [expect.stringMatching(/^\.overstory\/config\.yaml:\d+ /)],
    next: "ov config validate",
    code: 5,
  });
  writeFileSync(path, good);
  expect(await check(project, "config", "config-valid")).toMatchObject({ status: "pass" });
}, 60_000);

test("generated-files: a file that is not as this version writes it is written again by --fix", async () => {
  await using project = await committed({});
  expect(await check(project, "structure", "generated-files")).toMatchObject({ status: "pass" });
  rmSync(join(project.root, ".overstory", ".gitignore"));
  expect(await check(project, "structure", "generated-files")).toMatchObject({
    status: "warn",
    message: expect.stringContaining(".gitignore"),
    next: "ov update",
    code: 0,
  });
  await project.json("doctor", "--fix", "generated-files", "--yes");
  expect(await check(project, "structure", "generated-files")).toMatchObject({ status: "pass" });
}, 60_000);

test("settings-file: a project whose settings were deleted says so", async () => {
  await using project = await committed({});
  expect(await check(project, "structure", "settings-file")).toMatchObject({ status: "pass" });
  rmSync(join(project.root, ".overstory", "config.yaml"));
  expect(await check(project, "structure", "settings-file")).toMatchObject({
    status: "warn",
    message: ".overstory/config.yaml is not there; the last known settings count",
    next: "ov init",
  });
}, 60_000);
