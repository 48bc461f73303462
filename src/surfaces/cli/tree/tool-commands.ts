import { ok } from "../../../domain/result.ts";
import type { Command } from "../command.ts";

/** `ov merge-file`: the rules that settle conflicts, on three files. */
export const mergeFileCommand: Command = {
  name: "merge-file",
  summary: "Merge three versions of one file by rule, or refuse",
  details:
    "Tries what the merge queue tries without asking anybody: one side unchanged, the same change twice, files both sides add to, and a merge by structure (JSON, YAML, Markdown, JSONL, source code). The merged text is printed; nothing is written. A conflict that no rule settles is refused with exit code 4. Works outside a project.",
  group: "Setup",
  arguments: [
    { name: "base", summary: "The common version; may be empty", required: true, complete: "files" },
    { name: "ours", summary: "Our version; line ends follow it", required: true, complete: "files" },
    { name: "theirs", summary: "The other version", required: true, complete: "files" },
  ],
  flags: [
    {
      name: "path",
      value: "name",
      summary: "What the file is called in its repository; decides the format",
      required: true,
    },
    { name: "union", summary: "The file has the git attribute merge=union" },
  ],
  examples: [
    { line: "ov merge-file base.json ours.json theirs.json --path package.json", does: "prints the merged manifest" },
    { line: "ov merge-file a b c --path docs/guide.md --json", does: "says how it was merged, or why not" },
  ],
  run: async () => (await import("../commands/merge-file.ts")).mergeFile,
};

/** `ov runtimes`: what agents' programs are here, and whether agents could work with them. */
export const runtimesCommand: Command = {
  name: "runtimes",
  summary: "Show the coding-agent programs that agents can run, and what keeps one from working",
  details: "No secret is read or printed: of variables only the names, of login files only that they are there.",
  group: "Setup",
  commands: [
    {
      name: "list",
      summary: "List runtimes and drivers, what each can do, and which agents get them",
      run: async () => (await import("../commands/runtimes.ts")).list,
    },
    {
      name: "probe",
      summary: "Show which programs are installed, their versions, signs of a login, and limits they met",
      arguments: [{ name: "runtime", summary: "Only these (default: all)", variadic: true }],
      run: async () => (await import("../commands/runtimes.ts")).probe,
    },
    {
      name: "doctor",
      summary: "Check all that agents would need: program, login, models, guard, environment",
      details:
        "Tries the guard as agents' programs ask it, and says which variables of this shell agents do not get. Exits with 5 when something would keep agents from working.",
      arguments: [{ name: "runtime", summary: "Only these (default: those that the settings use)", variadic: true }],
      examples: [{ line: "ov runtimes doctor", does: "says what to do before agents are started" }],
      run: async () => (await import("../commands/runtimes.ts")).doctor,
    },
  ],
};

/** `ov engine`: the process that does everything that lasts. It starts by itself; no work needs these commands. */
export const engineCommand: Command = {
  name: "engine",
  summary: "See, start and stop the process that runs the turns of agents",
  details: "A command that leaves work for the engine starts it. The engine ends when nothing is left to do.",
  group: "Engine",
  commands: [
    {
      name: "start",
      summary: "Make sure an engine is running",
      run: async () => (await import("../commands/engine.ts")).start,
    },
    {
      name: "status",
      summary: "Show whether an engine is running, and what is left to do",
      worksWithBrokenConfig: true,
      run: async () => (await import("../commands/engine.ts")).status,
    },
    {
      name: "stop",
      summary: "Ask the engine to end, and wait until it has",
      details: "Turns that are running go on; the next command that leaves work starts an engine again.",
      worksWithBrokenConfig: true,
      run: async () => (await import("../commands/engine.ts")).stop,
    },
    {
      name: "install",
      summary: "Write a user service that starts the engine with this machine",
      details: "Writes a systemd unit for this project and says how to switch it on; switches nothing on itself.",
      flags: [{ name: "print", summary: "Print the unit and write nothing" }],
      run: async () => (await import("../commands/engine.ts")).install,
    },
  ],
};

export const serveCommand: Command = {
  name: "serve",
  summary: "Serve the web page of this project on this machine",
  details:
    "The engine serves it; this command asks it to, shows an address with a login code that counts once, and asks it to " +
    "end at Ctrl-C. Where the page is served already, it shows a new address and ends.",
  group: "Engine",
  flags: [
    { name: "port", value: "n", type: "integer", min: 1, summary: "The port (default: serve.port, 7321)" },
    { name: "host", value: "address", summary: "The address to listen at (default: serve.host, 127.0.0.1)" },
    { name: "open", summary: "Open it in a browser" },
    { name: "detach", summary: "Return at once; the engine serves it until ov serve stop" },
    { name: "strict-port", summary: "Fail where the port is taken, instead of using the next free one" },
    { name: "dev", summary: "Serve the sources of the page too, and load it anew when they change (from a checkout)" },
    { name: "dev-port", value: "n", type: "integer", min: 1, summary: "The port of --dev (default: 3000)" },
  ],
  examples: [
    { line: "ov serve --open", does: "serves the page and opens it" },
    { line: "ov serve --detach", does: "serves it until ov serve stop" },
  ],
  run: async () => (await import("../commands/serve.ts")).serve,
  commands: [
    {
      name: "login",
      summary: "Show an address with a new login code, or a token for a program",
      flags: [
        {
          name: "role",
          value: "role",
          choices: ["operator", "viewer"],
          summary: "A viewer changes nothing (default: operator)",
        },
        { name: "token", summary: "A token for the header Authorization: Bearer, good for 90 days" },
      ],
      run: async () => (await import("../commands/serve.ts")).login,
    },
    {
      name: "keys",
      summary: "List the sessions of browsers and the tokens of programs that count",
      run: async () => (await import("../commands/serve.ts")).keys,
    },
    {
      name: "revoke",
      summary: "End a session or token, those of a role, or all of them",
      arguments: [{ name: "id", summary: "The id of the session or token" }],
      flags: [
        { name: "role", value: "role", choices: ["operator", "viewer"], summary: "Those of this role" },
        { name: "all", summary: "All of them" },
      ],
      run: async () => (await import("../commands/serve.ts")).revoke,
    },
    {
      name: "status",
      summary: "Show whether the page is served, and where",
      run: async () => (await import("../commands/serve.ts")).status,
    },
    {
      name: "stop",
      summary: "End serving the page",
      run: async () => (await import("../commands/serve.ts")).stop,
    },
  ],
};

export const runUntilIdleCommand: Command = {
  name: "run-until-idle",
  summary: "Run turns in the foreground until nothing is left",
  details:
    "For places where nothing may run in the background, such as a CI job. Where an engine runs already, waits for it. What waits for a person, an approval or a merge that something blocks, does not keep it waiting; its last lines name it. A blocked merge is tried again before that.",
  group: "Engine",
  flags: [
    { name: "timeout", value: "s", type: "integer", min: 1, summary: "Give up after this many seconds (exit 124)" },
  ],
  examples: [{ line: "ov run-until-idle --timeout 3600", does: "works for an hour at most" }],
  run: async () => (await import("../commands/engine.ts")).runUntilIdle,
};

export const demoCommand: Command = {
  name: "demo",
  summary: "Watch a team of scripted agents finish an objective in a throwaway repository",
  details:
    "No model, no network, no cost. A coordinator, two leads, a scout, four builders and a reviewer improve a small real " +
    "program with tests. On the way one agent's program is killed and goes on, one review fails, two branches conflict " +
    "and are merged by structure, and one branch that breaks the tests only together with another is caught before it " +
    "lands.",
  group: "Setup",
  flags: [
    { name: "keep", summary: "Leave the repository there to look at" },
    { name: "agents", value: "n", type: "integer", min: 4, summary: "Builders to run (default: 4)" },
    { name: "seed", value: "n", type: "integer", min: 0, summary: "Decides who is killed and who scouts" },
  ],
  examples: [
    { line: "ov demo", does: "about twenty seconds" },
    { line: "ov demo --keep --agents 8", does: "with more builders, and the repository stays" },
  ],
  run: async () => (await import("../commands/demo.ts")).demo,
};

/** Asked by completion scripts at a key press; never typed by people. */
export const completeCommand: Command = {
  name: "__complete",
  summary: "Values for a shell's completion",
  hidden: true,
  arguments: [
    { name: "source", summary: "What kind of value", required: true },
    { name: "prefix", summary: "What was typed so far" },
  ],
  run: async () => (await import("../commands/complete.ts")).complete,
};

export const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** `ov completions <shell>`. It is a part of the tree that it completes, so it gets the tree as a function. */
export const completionsCommand = (tree: () => Command): Command => ({
  name: "completions",
  summary: "Print the completion script for a shell",
  arguments: [{ name: "shell", required: true, choices: shells, summary: "The shell to complete in" }],
  examples: [{ line: "source <(ov completions bash)", does: "Completes in this shell from now on" }],
  run:
    async () =>
    async ({ args }) => {
      const shell = shells.find((known) => known === args.shell) ?? "bash";
      const script = await completionScript(tree(), shell);
      return ok({ json: { shell, script }, text: script });
    },
});

/** The script for one shell. It asks for values that change by `ov __complete <source> -- <prefix>`. */
async function completionScript(tree: Command, shell: Shell): Promise<string> {
  switch (shell) {
    case "bash":
      return (await import("../completions/bash.ts")).bashScript(tree);
    case "zsh":
      return (await import("../completions/zsh.ts")).zshScript(tree);
    case "fish":
      return (await import("../completions/fish.ts")).fishScript(tree);
  }
}
