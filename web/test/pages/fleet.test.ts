import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { letGo, slingNew, untilAgent, untilFile } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage } from "../live-page.ts";

const turned = "echo '\u202e'";
const task = "replace-every-cookie-by-a-token-of-the-store";

const scenario = `
- when: { agent: b1 }
  do:
    - edit: { file: menu.txt, write: "menu of b1\\n" }
    - commit: the menu of b1
    - say: Much to say.
      usage: { input: 900000, output: 90000, cacheRead: 10, cacheWrite: 10 }
- do:
    - shell: ${JSON.stringify(turned)}
    - repeat: { times: 70, do: [{ tool: { name: Edit, input: { file_path: a.ts }, output: ok } }, { say: "a word" }] }
    - shell: touch "$HOME/running"
    - waitFor: { file: "\${env.HOME}/go" }
`;

describe.skipIf(browserProgram === undefined)("agents on the page", () => {
  let project: TestProject;
  let live: LivePage;

  beforeAll(async () => {
    project = await makeProject({ scenario });
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "between_turns", "completed/no_signal");
    await project.json("task", "create", "Replace", "--id", task);
    await project.json("sling", task, "--name", "talker");
    await untilAgent(project, "talker", "in_turn");
    live = await openPage(project);
    live.page.setDefaultTimeout(10_000);
  }, 60_000);
  afterAll(async () => {
    await letGo(project);
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  test("the fleet says what each agent cost, as ov costs does", async () => {
    const { page, origin } = live;
    const { groups } = (await project.json("costs", "--by", "agent")) as {
      groups: { key: string; costUsd: number | null }[];
    };
    const cost = groups.find(({ key }) => key === "b1")?.costUsd ?? 0;
    expect(cost).toBeGreaterThan(1);
    await page.goto(`${origin}/fleet?done=shown`);
    await page
      .locator("[role=row][aria-label=b1]")
      .getByText(`$${cost.toFixed(2)}`)
      .waitFor();
  }, 60_000);

  test("commits since the base are shown once a turn has ended, and no 0 before", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/fleet?done=shown`);
    const known = page.locator("[role=row][aria-label=b1]").getByTitle("1 commit since its base");
    expect(await known.textContent()).toBe("+1");
    const unknown = page.locator("[role=row][aria-label=talker]").getByTitle("None of its turns has ended yet");
    expect(await unknown.textContent()).toBe("-");
  }, 60_000);

  test("the time beside a turn counts from its beginning, not from the last sign of life", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/fleet`);
    const began = await project.read(async (tx) => {
      const agent = await tx.agents.byName("talker");
      return (await tx.turns.runningFor(agent?.id ?? ""))?.startedAt ?? 0;
    });
    const time = page.locator("[role=row][aria-label=talker]").locator("time").first();
    expect(await time.getAttribute("datetime")).toBe(new Date(began).toISOString());
  }, 60_000);

  test("a name that is cut keeps both ends and its dots, and is copied in one piece", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/fleet`);
    const name = page.locator(`[role=row][aria-label=talker] [title="${task}"]`);
    await name.waitFor();
    const shown = `document.querySelector('[role=row][aria-label=talker] [title="${task}"]')`;
    const widths = await page.evaluate<number[]>(`[...${shown}.children].map((part) => part.clientWidth)`);
    expect(Math.min(...widths)).toBeGreaterThan(15);
    await page.evaluate(`getSelection().selectAllChildren(${shown})`);
    await page.keyboard.press("Control+c");
    await page.locator("#page input").first().focus();
    await page.keyboard.press("Control+v");
    expect(await page.locator("#page input").first().inputValue()).toBe(task);
  }, 60_000);

  test("a timeline does not say that nothing happened when it has only read the newest events", async () => {
    const { page, origin } = live;
    await untilFile(project, "running");
    await page.goto(`${origin}/agents/talker?types=errors`);
    await page.getByText(/^None of the newest \d+ rows is of this kind\.$/).waitFor();
  }, 60_000);

  test("the table says how many files the queued work of a branch changes, and what the gates said of it", async () => {
    const { page, origin } = live;
    const { branch } = (await project.read((tx) => tx.agents.byName("b1"))) ?? {};
    await page.goto(`${origin}/fleet?view=table&done=shown`);
    const row = page.locator("[role=row][aria-label=b1]");
    await row.waitFor();
    expect(await row.getByText("unverified").count()).toBe(0);
    await project.json("merge", "add", String(branch));
    expect(await row.getByTitle("menu.txt").textContent()).toBe("1");
    await row.getByText("unverified").waitFor();
  }, 60_000);

  test("a command that turns its own text around reads as it was run", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/agents/talker?q=echo`);
    const older = page.getByRole("button", { name: "Read older events" });
    await page.locator("[role=log]").waitFor();
    for (let reads = 0; reads < 10 && (await older.count()) > 0; reads++) {
      await older.click();
      await page.waitForTimeout(300);
    }
    await page.getByText("echo '\\u{202e}'").first().waitFor();
    expect(live.complaints).toEqual([]);
  }, 60_000);
});
