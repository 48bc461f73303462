import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { letGo, untilAgent } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage, phoneWidths, seriousFindings } from "../live-page.ts";

const scenario = `
- when: { agent: b8 }
  do:
    - waitFor: { file: "\${env.HOME}/never" }
- do:
    - shell: touch "$HOME/running-\${agent}"
    - waitFor: { file: "\${env.HOME}/go" }
    - say: done
`;

if (browserProgram === undefined)
  console.error("SKIPPED: the page of tasks is not tested, because no Chromium is here (scripts/ci-deps installs it)");

describe.skipIf(browserProgram === undefined)("the page of tasks", () => {
  let project: TestProject;
  let live: LivePage;
  let page: Page;

  beforeAll(async () => {
    project = await makeProject({ scenario });
    live = await openPage(project);
    page = live.page;
  });
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  const stored = (id: string) => project.read((tx) => tx.tasks.get(id));
  const card = (id: string) => page.locator(`[data-task="${id}"]`);
  const inColumn = (title: string, id: string) =>
    page
      .locator("section", { has: page.getByRole("heading", { name: title, exact: true }) })
      .locator(`[data-task="${id}"]`);

  test("without tasks the page says so, and the first one is made from the keyboard", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByText("No tasks in this run yet.").waitFor();
    await page.keyboard.press("c");
    await page.getByLabel("Title").fill("Schema <b>of</b> sessions");
    await page.getByLabel("Title").press("Enter");
    await page.getByText("Made: Schema <b>of</b> sessions.").waitFor();
    const [made] = await project.read((tx) => tx.tasks.list({}));
    expect(made?.title).toBe("Schema <b>of</b> sessions");
    await inColumn("Ready", made?.id ?? "").waitFor();
  });

  test("cards are moved by Shift and arrows where the tracker allows it, else the reason is told", async () => {
    await project.json("task", "create", "Token store", "--id", "T1");
    await project.json("task", "create", "Token expiry", "--id", "T2", "--blocked-by", "T1");
    await inColumn("Ready", "T1").waitFor();
    await inColumn("Waiting", "T2").getByText("waits for T1").waitFor();
    await card("T1").focus();
    await page.keyboard.press("Shift+ArrowLeft");
    await inColumn("Waiting", "T1").waitFor();
    expect((await stored("T1"))?.status).toBe("blocked");
    await card("T1").focus();
    await page.keyboard.press("Shift+ArrowRight");
    await inColumn("Ready", "T1").waitFor();
    expect((await stored("T1"))?.status).toBe("open");
    await card("T1").focus();
    await page.keyboard.press("Shift+ArrowRight");
    await page.getByText("T1 cannot be moved to In work: an agent takes it there: sling one.").waitFor();
    await card("T2").focus();
    await page.keyboard.press("Shift+ArrowRight");
    await page.getByText("T2 cannot be moved to Ready: it waits for T1.").waitFor();
    expect((await stored("T2"))?.status).toBe("open");
  });

  test("a card is dragged to a column that takes it; another column says why it does not", async () => {
    const column = (title: string) => page.getByRole("region", { name: title, exact: true });
    await card("T1").dragTo(column("Waiting"));
    await inColumn("Waiting", "T1").waitFor();
    await page.getByText("T1 is in Waiting now.").first().waitFor();
    expect((await stored("T1"))?.status).toBe("blocked");
    await card("T1").dragTo(column("Ready"));
    await inColumn("Ready", "T1").waitFor();
    await card("T1").hover();
    await page.mouse.down();
    const box = await column("In work").boundingBox();
    for (const step of [20, 30, 40])
      await page.mouse.move((box?.x ?? 0) + step, (box?.y ?? 0) + 100 + step, { steps: 4 });
    await column("In work").getByText("an agent takes it there: sling one").waitFor();
    await page.mouse.up();
    expect((await stored("T1"))?.status).toBe("open");
  });

  test("a ready task is given to an agent with s, and the card shows who works on it", async () => {
    await card("T1").focus();
    await page.keyboard.press("s");
    await page.getByLabel("Name").fill("b1");
    await page.getByRole("button", { name: "Start agent" }).click();
    await page.getByText("A builder starts on T1.").waitFor();
    await untilAgent(project, "b1", "in_turn");
    await inColumn("In work", "T1").getByText("b1").waitFor();
    await card("T1").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("complementary").getByText("Token expiry").waitFor();
    expect(page.url()).toContain("peek=task:T1");
  });

  test("an agent is started on what is told in words; files that another one owns are told before it starts", async () => {
    const open = async (words: string, name: string, files: string): Promise<void> => {
      await page.getByRole("button", { name: "New agent" }).click();
      const sheet = page.getByRole("dialog");
      await sheet.getByLabel("What is to be done").fill(words);
      await sheet.getByLabel("Name").fill(name);
      await sheet.getByLabel("Files that it owns").fill(files);
      await page.getByRole("button", { name: "Start agent" }).click();
    };
    await page.goto(`${live.origin}/fleet`);
    await open("Write the guide for Zoë", "b8", "docs/**");
    await page.getByText("A builder starts on a new task.").first().waitFor();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await untilAgent(project, "b8", "in_turn");
    // While the pointer is over the list, new rows wait.
    await page.keyboard.press(".");
    await page.locator("[role=row][aria-label=b8]").waitFor();
    expect(await stored("write-the-guide-for-zoe")).toMatchObject({ title: "Write the guide for Zoë" });
    await open("Write the reference", "b9", "docs/reference.md");
    await page.getByText('docs/reference.md may touch docs/**, which "b8" owns').waitFor();
    expect(await project.read((tx) => tx.agents.byName("b9"))).toBeUndefined();
    await page.getByRole("button", { name: "Start all the same" }).click();
    await project.until("b9 was started", async () => Boolean(await project.read((tx) => tx.agents.byName("b9"))));
    await project.json("stop", "b8");
  });

  test("a task is dropped with a reason, which stops its agent; it can be reopened", async () => {
    await page.goto(`${live.origin}/tasks`);
    await card("T1").waitFor();
    await page.getByRole("button", { name: "Actions on T1" }).click();
    await page.getByRole("menuitem", { name: "Drop" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("b1 is stopped and let go.").waitFor();
    await dialog.getByLabel("Why it is dropped").fill("not wanted any more");
    await dialog.getByRole("button", { name: "Drop T1" }).click();
    await page.getByText("T1 is dropped.").waitFor();
    expect(await stored("T1")).toMatchObject({ status: "closed", mergeState: "abandoned" });
    expect((await stored("T1"))?.closeReason).toContain("not wanted any more");
    await page.getByRole("button", { name: "Show" }).click();
    await inColumn("Done", "T1").waitFor();
    await page.getByRole("button", { name: "Actions on T1" }).click();
    await page.getByRole("menuitem", { name: "Reopen" }).click();
    await inColumn("Ready", "T1").waitFor();
    expect((await stored("T1"))?.status).toBe("open");
  });

  test("axe finds nothing serious, nothing scrolls sideways on a phone, and no page broke", async () => {
    const found = [];
    for (const path of ["/tasks", "/tasks?group=agent", "/tasks?group=none&peek=task:T1"]) {
      await page.goto(live.origin + path);
      await page.getByText("Token expiry").first().waitFor();
      found.push(...(await seriousFindings(page)));
    }
    expect(found).toEqual([]);
    const addresses = ["/tasks", "/tasks?group=agent", "/tasks?peek=task:T1", "/tasks?q=nothing"].map(
      (path) => live.origin + path,
    );
    expect(await phoneWidths(page, addresses)).toEqual([390, 390, 390, 390]);
    expect(live.complaints).toEqual([]);
    await letGo(project);
  });
});
