import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage, phoneWidths, seriousFindings } from "../live-page.ts";

describe.skipIf(browserProgram === undefined)("the page Health", () => {
  let project: TestProject;
  let live: LivePage;
  let stray = "";

  beforeAll(async () => {
    project = await makeProject({ scenario: "done" });
    live = await openPage(project);
    // A worktree directory that belongs to no agent.
    stray = join(project.root, ".overstory", "worktrees", "stray");
    mkdirSync(stray, { recursive: true });
    writeFileSync(join(stray, "note.txt"), "left behind");
  });
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  test("a finding is opened, its fix is planned and made by keyboard, and the check is proved by looking again", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/health`);
    const row = page.locator("[role=row][aria-label*='stray']").first();
    await row.waitFor();
    await row.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 2 }).getByText("stray").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press("f");
    await page.getByText("Plan", { exact: true }).waitFor();
    expect(existsSync(stray)).toBe(true);
    await page.getByRole("button", { name: "Fix", exact: true }).click();
    await page.getByText("is fixed; the check passes now").waitFor();
    expect(existsSync(stray)).toBe(false);
    await row.waitFor({ state: "detached" });
  });

  test("the services say which of them run", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/health?tab=services`);
    await page.getByText(/^pid \d+, version/).waitFor();
    await page.getByText("armed, watches 0 agents").waitFor();
    await page.getByText("1 session, 0 tokens").waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  test("the audit has the fix, is narrowed by words, and a filter that finds nothing says so", async () => {
    const { page, origin } = live;
    await page.goto(`${origin}/health`);
    await page.getByRole("heading", { name: "Health" }).waitFor();
    await page.keyboard.press("3");
    await page.locator("[role=row][aria-label='operator POST /api/doctor']").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("login nobody made");
    await page.getByText("No entry fits this filter.").waitFor();
    await page.getByRole("button", { name: "Clear filter" }).click();
    await page.locator("[role=row][aria-label='operator POST /api/doctor']").first().waitFor();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    expect(file.suggestedFilename()).toBe("audit.csv");
    expect(await seriousFindings(page)).toEqual([]);
  });

  test("on a phone nothing scrolls sideways, and no page broke or met its content policy", async () => {
    const { page, origin, complaints } = live;
    const paths = ["/health", "/health?tab=services", "/health?tab=audit"].map((path) => origin + path);
    expect(await phoneWidths(page, paths)).toEqual([390, 390, 390]);
    expect(complaints).toEqual([]);
  });
});
