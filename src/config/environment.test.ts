import { expect, test } from "bun:test";
import { loadConfig } from "./load.ts";
import { configFiles, type Environment } from "./sources.ts";

/** A project without files: only the environment speaks. */
const load = ({ env }: { readonly env: Environment }) =>
  loadConfig(configFiles({ root: "/nowhere/garden", state: "/nowhere/state" }), env);

test("variables reach every kind of key, whatever their capitals", async () => {
  const { config, ok, warnings } = await load({
    env: {
      OVERSTORY__MERGE__KEEP_IGNORED: "dist, build",
      OVERSTORY__WATCHDOG__TIER2_ENABLED: "yes",
      OVERSTORY__mail__ratelimits__perMinute: "7",
      OVERSTORY__RUNTIME__CAPABILITIES__BUILDER: "scripted",
      OVERSTORY__MAIL__WAKE__WORKER_DONE: "off",
      OVERSTORY__PROJECT__QUALITY_GATES: '[{"name":"t","command":"make"}]',
      OVERSTORY__RUNTIME__DEFAULT: "",
      OVERSTORY_AGENT_NAME: "not a setting",
    },
  });
  expect([ok, warnings]).toEqual([true, []]);
  expect(config.merge.keepIgnored).toEqual(["dist", "build"]);
  expect(config.watchdog.tier2Enabled).toBe(true);
  expect(config.mail.rateLimits.perMinute).toBe(7);
  expect(config.runtime.capabilities).toEqual({ builder: "scripted" });
  expect(config.mail.wake).toEqual({ worker_done: false });
  expect(config.project.qualityGates).toMatchObject([{ name: "t", command: "make", description: "" }]);
  expect(config.runtime.default).toBe("claude");
});

test("a wrong variable is reported by its name", async () => {
  const loaded = await load({
    env: {
      OVERSTORY__AGENTS__MAX_DEPTH: "deep",
      OVERSTORY__AGENTS__MAX_DEPHT: "1",
      OVERSTORY__PROJECT__QUALITY_GATES: "{",
    },
  });
  expect(loaded.problems).toMatchObject([
    { file: "OVERSTORY__AGENTS__MAX_DEPTH", line: 0, key: "agents.maxDepth" },
    { file: "OVERSTORY__PROJECT__QUALITY_GATES", key: "project.qualityGates" },
  ]);
  expect(loaded.warnings).toMatchObject([
    { file: "OVERSTORY__AGENTS__MAX_DEPHT", nearest: "OVERSTORY__AGENTS__MAX_DEPTH" },
  ]);
});
