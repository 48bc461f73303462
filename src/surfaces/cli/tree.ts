import type { Command } from "./command.ts";
import { completeCommand } from "./commands/complete/tree.ts";
import { configCommand } from "./commands/config/tree.ts";
import { groupCommand } from "./commands/group/tree.ts";
import { initCommand } from "./commands/init/tree.ts";
import { logCommand } from "./commands/log/tree.ts";
import { mailCommand } from "./commands/mail/tree.ts";
import { primeCommand } from "./commands/prime/tree.ts";
import { runCommand } from "./commands/run/tree.ts";
import { slingCommand } from "./commands/sling/tree.ts";
import { specCommand } from "./commands/spec/tree.ts";
import { statusCommand } from "./commands/status/tree.ts";
import { taskCommand } from "./commands/task/tree.ts";
import { completionsCommand } from "./completions/command.ts";

/** The whole command line, as data. */
export const tree: Command = {
  name: "ov",
  summary: "Turns one coding session into a team of AI coding agents working on one git repository",
  commands: [
    initCommand,
    slingCommand,
    taskCommand,
    specCommand,
    groupCommand,
    mailCommand,
    runCommand,
    statusCommand,
    primeCommand,
    logCommand,
    configCommand,
    { ...completionsCommand(() => tree), group: "Setup" },
    completeCommand,
  ],
};
