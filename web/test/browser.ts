import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium } from "playwright-core";

const programs = [
  process.env.CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** The browser of this machine; undefined where there is none. */
export const browserProgram: string | undefined = programs.find((path) => path !== "" && existsSync(path));

/** Starts a browser with a fresh profile that talks to nothing but the page. */
export async function startBrowser(): Promise<{
  readonly context: BrowserContext;
  readonly close: () => Promise<void>;
}> {
  const profile = mkdtempSync(join(tmpdir(), "ov-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    ...(browserProgram === undefined ? {} : { executablePath: browserProgram }),
    headless: true,
    viewport: { width: 1280, height: 800 },
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  const close = async (): Promise<void> => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { context, close };
}
