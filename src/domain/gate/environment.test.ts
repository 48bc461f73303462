import { expect, test } from "bun:test";
import { gateEnvironment } from "./environment.ts";

test("a gate gets what finds tools, and no secret of whoever started us", () => {
  const env = {
    HOME: "/home/ann",
    PATH: "/opt/bin",
    LC_ALL: "C",
    JAVA_HOME: "/opt/java",
    TERM: "xterm",
    OVERSTORY_TOKEN: "secret",
    OVERSTORY_AGENT_NAME: "b1",
    ANTHROPIC_API_KEY: "secret",
    OPENAI_API_KEY: "secret",
    SSH_AUTH_SOCK: "/run/agent",
    NODE_OPTIONS: "--require evil",
    LD_PRELOAD: "evil.so",
    BUN_OPTIONS: "--preload evil",
    LANG: undefined,
  };
  expect(gateEnvironment(env, { OVERSTORY_MERGE_HEAD: "abc" })).toEqual({
    HOME: "/home/ann",
    PATH: "/opt/bin",
    LC_ALL: "C",
    JAVA_HOME: "/opt/java",
    OVERSTORY_MERGE_HEAD: "abc",
    TERM: "dumb",
    CI: "1",
    OVERSTORY_GATE: "1",
  });
});

test("a right cannot be handed in by mistake either, and tools are found without a PATH", () => {
  expect(gateEnvironment({}, { OVERSTORY_TOKEN: "secret", BUN_CONFIG: "x", CI: "no" })).toEqual({
    PATH: "/usr/local/bin:/usr/bin:/bin",
    TERM: "dumb",
    CI: "1",
    OVERSTORY_GATE: "1",
  });
});
