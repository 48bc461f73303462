import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage } from "../live-page.ts";

const scenario = `
- when: { capability: coordinator }
  do: [{ say: I wait. }]
- do:
    - edit: { file: "\${agent}.txt", write: "\${agent}\\n" }
    - commit: "write \${agent}"
    - ov: [done, --summary, It is written]
`;

if (browserProgram === undefined)
  console.error("SKIPPED: the Overview is not tested: no Chromium is here (scripts/ci-deps installs it)");

/** A run of a coordinator in which `one` and then `two` landed. */
describe.skipIf(browserProgram === undefined)("the Overview of a run", () => {
  let project: TestProject;
  let live: LivePage;
  let page: Page;

  const landed = async (name: string): Promise<void> => {
    const task = name.toUpperCase();
    await project.json("sling", task, "--title", `Write ${name}`, "--name", name, "--wait=done");
    await project.json("merge", "--branch", `overstory/${name}/${task}`);
  };
  const tip = async (): Promise<string> => {
    const run = await project.read((tx) => tx.runs.current());
    return (await project.git("rev-parse", `refs/heads/${run?.landingBranch}`)).trim();
  };
  const criterion = (text: string) => page.getByRole("listitem").filter({ hasText: text });
  const landing = (name: string) => page.getByRole("listitem").filter({ hasText: `overstory/${name}/` });
  const undo = (name: string) => page.getByRole("button", { name: `Undo the landing of overstory/${name}/` });

  beforeAll(async () => {
    project = await makeProject({ scenario, gates: ["true"] });
    await project.json("coordinator", "start", "--objective", "Have both files");
    await project.json("run", "criteria", "add", "one.txt is there", "two.txt is there");
    await landed("one");
    live = await openPage(project);
    page = live.page;
    page.setDefaultTimeout(15_000);
  }, 120_000);
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  test("the checklist counts what is proved, and shows each proof as it comes in", async () => {
    await page.getByText("0 of 3 proved").waitFor();
    await criterion("one.txt is there").getByText("No task serves it yet.").waitFor();
    await project.json("run", "criteria", "prove", "2", "--file", "one.txt");
    await page.getByText("1 of 3 proved").waitFor();
    const at = (await tip()).slice(0, 6);
    await criterion("one.txt is there").getByText(`file one.txt at ${at}, by operator`).waitFor();
    // What is proved need not be waived.
    expect(await page.getByRole("button", { name: "Waive criterion 2" }).count()).toBe(0);
    await landed("two");
    await project.json("run", "criteria", "prove", "3", "--file", "two.txt");
    await page.getByText("2 of 3 proved").waitFor();
  }, 60_000);

  test("Undo says what it does to this landing, and does nothing before that is confirmed", async () => {
    const before = await tip();
    await undo("one").click();
    const dialog = page.getByRole("dialog", { name: /^Undo the landing of overstory\/one\/ONE\?$/ });
    await dialog.getByText(/^What overstory\/one\/ONE brought is taken out of .* must pass the gates\.$/).waitFor();
    await dialog.getByText("1 later landing stays.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.waitForTimeout(300);
    expect(await tip()).toBe(before);
    expect(await project.read((tx) => tx.mergeOps.list({ kind: "undo" }))).toEqual([]);
  }, 60_000);

  test("the newest landing is taken back, and the proof that went with it is lost", async () => {
    const [before, first] = [await tip(), (await project.git("rev-parse", "overstory/one/ONE")).trim()];
    await undo("two").click();
    const dialog = page.getByRole("dialog", { name: /^Undo the landing of overstory\/two\/TWO\?$/ });
    await dialog.getByText(new RegExp(`goes back from ${before.slice(0, 6)} to`)).waitFor();
    await dialog.getByRole("button", { name: "Undo", exact: true }).click();
    await landing("two").getByText("taken back").waitFor();
    expect(await undo("two").count()).toBe(0);
    expect(await undo("one").count()).toBe(1);
    expect(await project.git("ls-tree", "--name-only", await tip())).not.toContain("two.txt");
    expect(await project.git("merge-base", await tip(), first)).toContain(first);
    await page.getByText("1 of 3 proved").waitFor();
    await criterion("two.txt is there")
      .getByText(/^Proof lost: file two\.txt does not exist on /)
      .waitFor();
    await page.getByRole("button", { name: "Waive criterion 3" }).waitFor();
    await criterion("one.txt is there").getByText("file one.txt at").waitFor();
    expect(live.complaints).toEqual([]);
  }, 60_000);
});
