import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { slingNew, untilTurns } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage, phoneWidths, seriousFindings } from "../live-page.ts";

const config = `
budgets:
  run:
    usd: 40
`;

/** b1 tells what it used; the others end without a word about it. */
const scenario = `
- when: { agent: b1 }
  do:
    - say: half done
      usage: { input: 100000, output: 20000, cacheRead: 0, cacheWrite: 0 }
- do:
    - exit: 0
`;

describe.skipIf(browserProgram === undefined)("the page Costs", () => {
  let project: TestProject;
  let live: LivePage;

  beforeAll(async () => {
    project = await makeProject({ scenario, config });
    live = await openPage(project);
  });
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  test("without turns it says why there is nothing", async () => {
    await live.page.goto(`${live.origin}/costs`);
    await live.page.getByText("Nothing was used in this time.").waitFor();
  });

  test("one cursor goes through chart and table by keys, and the row opens the agent", async () => {
    await slingNew(project, "B1");
    await slingNew(project, "B2");
    await untilTurns(project, "b1", 1);
    await untilTurns(project, "b2", 1);
    const { page, origin } = live;
    await page.goto(`${origin}/costs`);
    await page.locator("[role=row][aria-label=b1]").waitFor();
    await page.locator("[role=row][aria-label=b2]").getByText("not reported").first().waitFor();
    await page.getByRole("slider", { name: "Moment in the costs" }).focus();
    await page.keyboard.press("Home");
    await page.getByRole("columnheader", { name: /^until / }).waitFor();
    await page.keyboard.press("ArrowDown");
    expect(await page.locator("[data-chosen]").count()).toBe(1);
    await page.keyboard.press("Escape");
    await page.getByRole("columnheader", { name: /^until / }).waitFor({ state: "detached" });
    await page.keyboard.press("3");
    await page.waitForURL("**/costs?by=model");
    expect(await seriousFindings(page)).toEqual([]);
  });

  test("a limit is raised in place by keyboard, with its effect told before, and the store knows it", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/costs?view=budgets`);
    await page.locator("[role=row][aria-label^='usd of run']").waitFor();
    await page.keyboard.press("j");
    await page.locator("[role=row]:focus").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("Limit $40.00 becomes $80.00").waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("2.5");
    await page.getByText("Limit $40.00 becomes $42.50").waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("is $42.50 now").waitFor();
    const ledgers = await project.read((tx) => tx.budgets.list());
    expect(ledgers.find(({ scope, unit }) => scope === "run" && unit === "usd")?.raised).toBe(2_500_000);
    expect(await seriousFindings(page)).toEqual([]);
  });

  test("on a phone nothing scrolls sideways, and no page broke or met its content policy", async () => {
    const { page, origin, complaints } = live;
    const paths = ["/costs", "/costs?view=budgets", "/costs?by=task"].map((path) => origin + path);
    expect(await phoneWidths(page, paths)).toEqual([390, 390, 390]);
    expect(complaints).toEqual([]);
  });
});

/** Used tokens, and waits. */
const asking = `
- do:
    - ov: [mail, send, --to, operator, --type, question, --subject, "Which clock?", --body, "Local?", --expects-reply]
    - say: I wait.
      usage: { input: 100000, output: 20000, cacheRead: 0, cacheWrite: 0 }
`;

describe.skipIf(browserProgram === undefined)("a budget of which most is used", () => {
  test("stands in the inbox, whose link opens the field that raises it", async () => {
    const tokens = "budgets:\n  agent:\n    tokens: 140000\n";
    await using project = await makeProject({ scenario: asking, config: tokens });
    await slingNew(project, "B1");
    await untilTurns(project, "b1", 1);
    const { page, origin, complaints, close } = await openPage(project);
    await page.goto(`${origin}/tasks`);
    await page.locator("[data-connection=live]").waitFor();
    await page.getByText("2 need you: question").waitFor();
    await page.keyboard.press("i");
    const item = page.getByRole("dialog", { name: "Needs you" }).getByRole("listitem");
    const soon = item.filter({ hasText: "b1 has used at least 85 % of 140000 tokens" });
    await soon.getByRole("link", { name: "Raise in Budgets" }).click();
    await page.getByText(/^Limit 140.* becomes/).waitFor();
    expect(page.url()).toContain("view=budgets");
    expect(await seriousFindings(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });
});
