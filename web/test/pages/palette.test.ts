import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { slingNew, untilAgent } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage, seriousFindings } from "../live-page.ts";

const scenario = `
- do:
    - ov: [mail, send, --to, operator, --type, status, --subject, "Clocks compared", --body, "The monotonic one drifts less."]
    - say: I wait.
`;

if (browserProgram === undefined)
  console.error("SKIPPED: the palette is not tested, because no Chromium is here (scripts/ci-deps installs it)");

describe.skipIf(browserProgram === undefined)("the palette and the search", () => {
  let project: TestProject;
  let live: LivePage;
  let page: Page;
  let origin: string;
  let merge: number;

  beforeAll(async () => {
    project = await makeProject({ files: { "shared.txt": "first\n" }, scenario });
    await slingNew(project, "TOKEN-1");
    await untilAgent(project, "token-1", "between_turns");
    await project.json("task", "create", "Rate limits for the gateway");
    await project.git("checkout", "--quiet", "-b", "feature/rename-the-jar", "main");
    await Bun.write(join(project.root, "shared.txt"), "first of it\n");
    await project.git("commit", "--quiet", "-am", "rename");
    await project.git("checkout", "--quiet", "main");
    merge = Number((await project.json("merge", "add", "feature/rename-the-jar")).id);
    live = await openPage(project);
    ({ page, origin } = live);
  }, 60_000);
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  const field = () => page.getByRole("combobox");
  const chosen = () => page.locator("[role=option][aria-selected=true]");
  const ask = async (words: string, hit: string): Promise<void> => {
    await page.locator("[data-connection=live]").waitFor();
    await page.keyboard.press("Control+k");
    await field().fill(words);
    await page.getByRole("option", { name: hit }).first().waitFor();
    await chosen().getByText(hit).first().waitFor();
  };

  test("a task, a branch, an agent, the subject of a mail and a word in its body are found and opened", async () => {
    await ask("gateway", "Rate limits for the gateway");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/tasks?**peek=task:**");
    await page.getByRole("complementary").getByText("Rate limits for the gateway").first().waitFor();

    await ask("#rename-the-jar", "feature/rename-the-jar");
    expect(await page.getByRole("option").count()).toBe(1);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/merge/${merge}`);

    await ask("@token", "token-1");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/agents/token-1");

    for (const words of ["clocks", "drifts monotonic"]) {
      await page.goto(`${origin}/fleet`);
      await ask(words, "Clocks compared");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/mail?box=all&msg=**");
      await page.getByRole("region", { name: "Thread" }).getByText("The monotonic one drifts less.").waitFor();
    }
  });

  test("settings are found by their key, actions behind >, keys behind ?", async () => {
    await ask("merge.batchSize", "merge.batchSize");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/settings/merge?q=merge.batchSize");

    await ask(">narrow or widen", "Narrow or widen the page list");
    await page.keyboard.press("Escape");
    await ask("?open the inbox", "Open the inbox");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Needs you" }).waitFor();
    await page.keyboard.press("Escape");
  });

  test("where nothing is called so, Enter searches the record, and / twice does the same", async () => {
    await page.goto(`${origin}/mail?box=all`);
    await page.locator("[role=row][aria-label^='Clocks compared']").waitFor();
    await page.keyboard.press("/");
    await page.locator("#mail-filter:focus").waitFor();
    await page.keyboard.press("/");
    await field().and(page.getByLabel("Search everything on record")).waitFor();
    await page.keyboard.type("limits gateway");
    await chosen().getByText("Rate limits for the gateway").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await page.locator("#mail-filter").inputValue()).toBe("");

    await page.goto(`${origin}/fleet`);
    await page.locator("[data-connection=live]").waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("zeppelin");
    await page.getByText("Nothing is called like this. Enter searches the record for other words.").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Nothing on record has all of these words.").waitFor();
    expect(await field().inputValue()).toBe("zeppelin");
    await page.keyboard.press("Escape");
    expect(live.complaints).toEqual([]);
  });
});
