import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { allowedEnvironment, gateEnvironment, gateVariables, isSecretName } from "./environment.ts";

test("agents get locale, proxies and what their runtime asks for, and nothing else", () => {
  const env = {
    LANG: "C",
    LC_ALL: "C",
    HTTPS_PROXY: "p",
    ANTHROPIC_API_KEY: "k",
    AWS_SECRET: "s",
    DATABASE_URL: "d",
    EMPTY: undefined,
  };
  expect(allowedEnvironment(env, ["ANTHROPIC_*"])).toEqual({
    LANG: "C",
    LC_ALL: "C",
    HTTPS_PROXY: "p",
    ANTHROPIC_API_KEY: "k",
  });
});

test("what could change how our own program runs is never passed on, even when asked for", () => {
  const env = { BUN_OPTIONS: "--preload x", NODE_OPTIONS: "-r x", OVERSTORY_TOKEN: "t", LD_PRELOAD: "x" };
  expect(allowedEnvironment(env, ["BUN_*", "NODE_OPTIONS", "OVERSTORY_*", "LD_PRELOAD"])).toEqual({});
  expect(gateVariables(env)).toEqual({});
});

describe("gates beside agents", () => {
  const shared = {
    LC_ALL: "C",
    CARGO_HOME: "/c",
    NVM_DIR: "/n",
    MISE_DATA_DIR: "/m",
    HTTP_PROXY: "p",
    VIRTUAL_ENV: "/v",
  };

  test("both get what finds tools and reaches the network", () => {
    expect(gateVariables(shared)).toEqual(shared);
    expect(allowedEnvironment(shared, [])).toEqual(shared);
  });

  test("only agents may sign, and what is behind a star is no way in for a secret", () => {
    const env = { SSH_AUTH_SOCK: "/s", GIT_SSH_COMMAND: "ssh -i k", GIT_AUTHOR_NAME: "Ann", MISE_GITHUB_TOKEN: "t" };
    expect(allowedEnvironment(env, [])).toEqual(env);
    expect(gateVariables(env)).toEqual({});
  });

  test("no gate gets what no agent gets, except where its files are; and never anything named like a secret", () => {
    const name = fc.oneof(
      fc.constantFrom("HOME", "PATH", "TMPDIR", "LANG", "NVM_DIR", "GOPATH", "TERM", "SSH_AUTH_SOCK"),
      fc
        .tuple(fc.constantFrom("NVM_", "MISE_", "LC_", "BUN_", "X_"), fc.constantFrom("DIR", "API_KEY", "TOKEN", "a"))
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(fc.dictionary(name, fc.string()), (env) => {
        const agents = { ...allowedEnvironment(env, []) };
        for (const passed of Object.keys(gateVariables(env))) {
          expect(isSecretName(passed)).toBe(false);
          expect(["HOME", "PATH", "TMPDIR"].includes(passed) || passed in agents).toBe(true);
        }
      }),
    );
  });
});

test("names that read like a secret are told from those that only hold such letters", () => {
  for (const name of ["OPENAI_API_KEY", "APIKEY", "GITHUB_TOKEN", "npm_token", "DB_PASSWORD", "AWS_ACCESS_KEY_ID"]) {
    expect([name, isSecretName(name)]).toEqual([name, true]);
  }
  for (const name of ["KEYBOARD", "MONKEY", "TOKENIZER_DIR", "SSH_AUTH_SOCK", "HOME"]) {
    expect([name, isSecretName(name)]).toEqual([name, false]);
  }
});

test("a gate gets the variables that find tools, and no secret of our caller", () => {
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
