import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage, phoneWidths, seriousFindings } from "../live-page.ts";

const gate = JSON.stringify({ options: ["keep 30 days", "drop now"] });
const scenario = `
- when: { agent: coordinator, turn: 1 }
  do:
    - say: I split the work into **three** tasks.
    - ov: [task, create, Token store, --id, T1]
    - ov: [mail, send, --to, operator, --type, decision_gate, --subject, "Keep v1 cookies?", --body, Two clients send them, --payload, '${gate}']
- when: { agent: coordinator, input: "/How far/" }
  do:
    - ov: [mail, send, --to, operator, --subject, How far, --body, "Half of it is done."]
- do:
    - say: I have read it.
`;

if (browserProgram === undefined)
  console.error(
    "SKIPPED: the page of the coordinator is not tested: no Chromium is here (scripts/ci-deps installs it)",
  );

describe.skipIf(browserProgram === undefined)("the page of the coordinator", () => {
  let project: TestProject;
  let live: LivePage;
  let page: Page;

  beforeAll(async () => {
    project = await makeProject({ scenario });
    live = await openPage(project);
    page = live.page;
    page.setDefaultTimeout(6_000);
  });
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  const run = () => project.read((tx) => tx.runs.current());
  const field = () => page.getByRole("textbox", { name: "Message, / commands, @ agent, # task" });
  const log = () => page.getByRole("log");

  test("where no coordinator runs, the page offers objectives, says under what terms it would work, and starts one", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("c");
    await page.getByText("No coordinator has run in this project yet.").waitFor();
    await page.getByText("turns at once").waitFor();
    await page.getByRole("button", { name: /^Make the slowest tests/ }).click();
    const objective = page.locator("textarea");
    expect(await objective.inputValue()).toContain("slowest tests");
    await objective.fill("Replace cookies by tokens");
    await page.reload();
    await page.getByText("turns at once").waitFor();
    expect(await objective.inputValue()).toBe("Replace cookies by tokens");
    await page.getByRole("button", { name: "Start coordinator" }).click();
    // Agents of the page get the variables of the engine, so this one has no script.
    await log().getByText("nothing to do").waitFor();
    expect((await run())?.objective).toBe("Replace cookies by tokens");
    await log().getByText("read", { exact: true }).waitFor();
  });

  test("stopping says what follows before it ends the run; the page offers the next one", async () => {
    await page.getByRole("button", { name: "Stop..." }).click();
    await page.getByRole("dialog").getByText("No agent of the run is at work.").waitFor();
    const before = await run();
    await page.getByRole("button", { name: "Stop coordinator", exact: true }).click();
    await page.getByText("coordinator is stopped, and its run has ended.").waitFor();
    expect((await project.read((tx) => tx.runs.get(before?.id ?? "")))?.status).not.toBe("active");
    await page.getByText("coordinator has ended. Its last run: Replace cookies by tokens.").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  test("a coordinator that was started elsewhere is followed: what it says, and what it did, folded", async () => {
    await project.json("coordinator", "start", "--objective", "Replace cookies by tokens");
    await log().getByText("I split the work into three tasks.").waitFor();
    expect(await log().locator("strong", { hasText: "three" }).count()).toBe(1);
    const did = log().locator("details", { hasText: "ov task create" });
    await did.locator("summary").click();
    await did.getByText("ov task create").waitFor();
  });

  test("a digit answers its decision", async () => {
    await log().getByRole("button", { name: "keep 30 days" }).waitFor();
    await page.keyboard.press("1");
    await page.getByText("Decided: keep 30 days.").waitFor();
    const [answer] = await project.read((tx) => tx.messages.list({ type: "decision" }));
    expect(JSON.parse(answer?.payload ?? "{}")).toMatchObject({ option: "keep 30 days" });
    await log().locator("p", { hasText: "I have read it." }).first().waitFor();
    // What was opened stays open while more comes.
    await log().getByText("ov task create").waitFor();
  });

  test("a question is completed from its first letters, survives a reload as a draft, and is answered", async () => {
    await field().fill("/a");
    await page.getByRole("option", { name: /\/ask/ }).waitFor();
    await field().press("Enter");
    expect(await field().inputValue()).toBe("/ask ");
    await field().fill("/ask How far is #T");
    await page.getByRole("option", { name: /#T1/ }).waitFor();
    await field().press("Tab");
    await page.reload();
    await field().waitFor();
    expect(await field().inputValue()).toBe("/ask How far is #T1 ");
    await field().press("Control+Enter");
    await log().getByText("Half of it is done.", { exact: true }).waitFor();
    const [asked] = await project.read((tx) => tx.messages.list({ from: "operator", type: "question" }));
    expect(asked).toMatchObject({ body: "How far is #T1", address: "coordinator" });
    await field().fill("/nonsense");
    await field().press("Control+Enter");
    await page.getByText("There is no command /nonsense.").waitFor();
    await field().fill("");
  });

  test("the objective is changed with /change, and a criterion is waived on the Overview with a reason", async () => {
    await field().fill("/change Keep the cookies for 30 days");
    await field().press("Control+Enter");
    await page.getByText("The objective is changed, and coordinator is told.").waitFor();
    expect((await run())?.objective).toContain("Keep the cookies for 30 days");
    await page.goto(`${live.origin}/`);
    await page.getByRole("button", { name: "Waive criterion 1" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Why it need not be met").fill("it is a trial");
    await dialog.getByRole("button", { name: "Waive criterion 1" }).click();
    await page.getByText("Waived by operator: it is a trial").waitFor();
    const current = await run();
    const criteria = await project.read((tx) => tx.criteria.of(current?.id ?? ""));
    expect(criteria[0]).toMatchObject({ number: 1, waiveReason: "it is a trial" });
  });

  test("after an absence the Overview tells what happened since", async () => {
    await page.goto(`${live.origin}/?since=${new Date(Date.now() - 3_600_000).toISOString()}`);
    await page.getByRole("heading", { name: /^Since you left \d/ }).waitFor();
    await page.getByText("coordinator asked: Keep v1 cookies?").waitFor();
    await page.getByRole("button", { name: "Done reading" }).click();
    await page.getByRole("heading", { name: /^Since you left/ }).waitFor({ state: "detached" });
  });

  test("axe finds nothing serious, and nothing scrolls sideways on a phone", async () => {
    await page.goto(`${live.origin}/coordinator`);
    await log().getByText("Half of it is done.", { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await phoneWidths(page, [`${live.origin}/coordinator`, `${live.origin}/`])).toEqual([390, 390]);
  });

  test("what keeps the run open is told, and no page broke", async () => {
    await page.goto(`${live.origin}/coordinator`);
    await page.getByRole("button", { name: "Check complete" }).click();
    await page.getByRole("dialog").getByText("task T1 is open").waitFor();
    expect(live.complaints).toEqual([]);
  });
});
