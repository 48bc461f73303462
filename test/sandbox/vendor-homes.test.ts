import { expect } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { confining, testConfined } from "../../testkit/sandboxed.ts";
import { statePath } from "../../testkit/state.ts";

/** How each vendor's program is told where its files are, and the file with a login or settings that it needs. */
const vendors = {
  claude: { variable: "CLAUDE_CONFIG_DIR", file: ".credentials.json", usual: ".claude/.credentials.json" },
  codex: { variable: "CODEX_HOME", file: "auth.json", usual: ".codex/auth.json" },
  gemini: { variable: "GEMINI_CLI_HOME", file: ".gemini/oauth_creds.json", usual: ".gemini/oauth_creds.json" },
  copilot: { variable: "COPILOT_HOME", file: "config.json", usual: ".copilot/config.json" },
  pi: { variable: "PI_CODING_AGENT_DIR", file: "auth.json", usual: ".pi/agent/auth.json" },
  opencode: { variable: "XDG_DATA_HOME", file: "opencode/auth.json", usual: ".local/share/opencode/auth.json" },
} as const;

type Vendor = keyof typeof vendors;
const all = Object.keys(vendors) as readonly Vendor[];

/** A place that is neither a home nor one for temporary files. */
const elsewhere = resolve(import.meta.dir, "../../node_modules/.cache");

/** Plays the vendor's program: says what it finds, and tries to write where its person's files are. */
const program = (own: Vendor, places: Readonly<Record<Vendor, string>>): string => `#!/bin/sh
if [ "$1" = --version ]; then echo 9.9.9; exit; fi
cd "$OVERSTORY_SCRATCH"
cat "$HOME/${vendors[own].usual}" > own-login 2>/dev/null
echo kept > "$HOME/${dirname(vendors[own].usual)}/conversation" && echo yes > keeps
echo changed > "$HOME/${vendors[own].usual}"
${all.map((vendor) => `cat "${join(places[vendor], vendors[vendor].file)}" >> moved-logins 2>/dev/null`).join("\n")}
${all.map((vendor) => `echo changed > "${join(places[vendor], vendors[vendor].file)}"`).join("\n")}
${all.map((vendor) => `echo planted > "${join(places[vendor], "planted")}"`).join("\n")}
echo "$${vendors[own].variable}" > variable
touch reached
`;

async function withPlaces(
  flavour: "in the home" | "elsewhere" | "behind a link",
  work: (project: TestProject, places: Readonly<Record<Vendor, string>>) => Promise<void>,
): Promise<void> {
  const outside = mkdtempSync(join(elsewhere, "ov-moved-"));
  try {
    const bin = join(outside, "bin");
    await using project = await makeProject({ config: confining, env: { PATH: `${bin}:${process.env.PATH}` } });
    const base = flavour === "in the home" ? join(project.home, "moved") : join(outside, "moved");
    const places = Object.fromEntries(all.map((vendor) => [vendor, join(base, vendor)])) as Record<Vendor, string>;
    for (const vendor of all) {
      const path = join(places[vendor], vendors[vendor].file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `login of ${vendor}\n`);
    }
    if (flavour === "behind a link") {
      for (const vendor of all) {
        symlinkSync(places[vendor], join(project.home, `link-${vendor}`));
      }
    }
    mkdirSync(bin);
    for (const vendor of all) writeFileSync(join(bin, vendor), program(vendor, places), { mode: 0o755 });
    await work(project, places);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
}

async function tried(project: TestProject, vendor: Vendor, shell: Readonly<Record<string, string>>): Promise<string> {
  await project.json("task", "create", "Look", "--id", "T1");
  const slung = await project.ovWith({ env: shell }, "sling", "T1", "--name", "a1", "--runtime", vendor);
  expect([slung.code, slung.err]).toEqual([0, expect.any(String)]);
  const scratch = statePath(project.root, "agents", "a1", "scratch");
  await project.until("its program had tried", async () => existsSync(join(scratch, "reached")));
  return scratch;
}

const textIn = (dir: string, name: string): string =>
  existsSync(join(dir, name)) ? readFileSync(join(dir, name), "utf8") : "";

for (const vendor of all) {
  testConfined(`${vendor} has its login, and cannot read or write a directory that variables moved`, async () => {
    for (const flavour of ["in the home", "elsewhere", "behind a link"] as const) {
      await withPlaces(flavour, async (project, places) => {
        const named = (one: Vendor): string =>
          flavour === "behind a link" ? join(project.home, `link-${one}`) : places[one];
        const shell = Object.fromEntries(all.map((one) => [vendors[one].variable, named(one)]));
        const scratch = await tried(project, vendor, shell);
        const found = {
          own: textIn(scratch, "own-login"),
          keeps: textIn(scratch, "keeps"),
          moved: textIn(scratch, "moved-logins"),
        };
        expect([flavour, found]).toEqual([flavour, { own: `login of ${vendor}\n`, keeps: "yes\n", moved: "" }]);
        // Gemini's is set by our own launch.
        const variable = textIn(scratch, "variable").trim();
        if (vendor !== "gemini") expect([flavour, variable]).toEqual([flavour, ""]);
        else expect(variable).toStartWith(statePath(project.root, "logs"));
        for (const one of all) {
          expect(readFileSync(join(places[one], vendors[one].file), "utf8")).toBe(`login of ${one}\n`);
          expect(readdirSync(places[one])).not.toContain("planted");
        }
      });
    }
  });
}

testConfined(
  "a home of a vendor that is itself a link is as private, and so is one that a variable names as usual",
  () =>
    withPlaces("elsewhere", async (project, places) => {
      symlinkSync(places.codex, join(project.home, ".codex"));
      mkdirSync(join(project.home, ".pi"));
      symlinkSync(places.pi, join(project.home, ".pi", "agent"));
      const scratch = await tried(project, "codex", { CODEX_HOME: join(project.home, ".codex") });
      expect(textIn(scratch, "own-login")).toBe("login of codex\n");
      // No variable says where the others are.
      expect(textIn(scratch, "moved-logins")).not.toContain("of codex");
      expect(textIn(scratch, "moved-logins")).not.toContain("of pi");
      expect(readFileSync(join(places.codex, "auth.json"), "utf8")).toBe("login of codex\n");
    }),
);
