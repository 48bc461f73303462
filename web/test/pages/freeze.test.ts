import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { slingNew } from "../../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../../testkit/project.ts";
import { browserProgram } from "../browser.ts";
import { type LivePage, openPage } from "../live-page.ts";

describe.skipIf(browserProgram === undefined)("a page that a person holds still", () => {
  let project: TestProject;
  let live: LivePage;

  beforeAll(async () => {
    project = await makeProject({ scenario: "done" });
    await slingNew(project, "B2");
    live = await openPage(project);
  });
  afterAll(async () => {
    await live?.close();
    await project?.[Symbol.asyncDispose]();
  });

  test("p freezes the page and lets it go on, with everything that happened meanwhile", async () => {
    const { page } = live;
    await page.goto(`${live.origin}/fleet`);
    await page.locator("[role=row][aria-label=b2]").waitFor();
    await page.keyboard.press("p");
    await page.getByText(/^Frozen at/).waitFor();
    await slingNew(project, "B3");
    await project.settled();
    await page.waitForTimeout(500);
    expect(await page.locator("[role=row][aria-label=b3]").count()).toBe(0);
    await page.keyboard.press("p");
    await page.locator("[role=row][aria-label=b3]").waitFor();
    expect(await page.getByText(/^Frozen at/).count()).toBe(0);
  }, 60_000);
});
