import type { Command } from "./command.ts";
import { adviseCommand } from "./commands/advise/tree.ts";
import { agentsCommand } from "./commands/agents/tree.ts";
import { attachCommand } from "./commands/attach/tree.ts";
import { budgetCommand } from "./commands/budget/tree.ts";
import { cleanCommand } from "./commands/clean/tree.ts";
import { completeCommand } from "./commands/complete/tree.ts";
import { configCommand } from "./commands/config/tree.ts";
import { coordinatorCommand } from "./commands/coordinator/tree.ts";
import { decideCommand } from "./commands/decide/tree.ts";
import { demoCommand } from "./commands/demo/tree.ts";
import { diffCommand } from "./commands/diff/tree.ts";
import { discoverCommand } from "./commands/discover/tree.ts";
import { doneCommand } from "./commands/done/tree.ts";
import { engineCommand } from "./commands/engine/tree.ts";
import { gateCommand } from "./commands/gate/tree.ts";
import { goCommand } from "./commands/go/tree.ts";
import { groupCommand } from "./commands/group/tree.ts";
import { hookCommand } from "./commands/hook/tree.ts";
import { hooksCommand } from "./commands/hooks/tree.ts";
import { inboxCommand } from "./commands/inbox/tree.ts";
import { initCommand } from "./commands/init/tree.ts";
import { logCommand } from "./commands/log/tree.ts";
import { logsCommand } from "./commands/logs/tree.ts";
import { mailCommand } from "./commands/mail/tree.ts";
import { mcpCommand } from "./commands/mcp/tree.ts";
import { mergeCommand } from "./commands/merge/tree.ts";
import { mergeFileCommand } from "./commands/merge-file/tree.ts";
import { nudgeCommand } from "./commands/nudge/tree.ts";
import { orchestratorCommand } from "./commands/orchestrator/tree.ts";
import { pauseCommand } from "./commands/pause/tree.ts";
import { primeCommand } from "./commands/prime/tree.ts";
import { promptCommand } from "./commands/prompt/tree.ts";
import { recoverCommand } from "./commands/recover/tree.ts";
import { releaseCommand } from "./commands/release/tree.ts";
import { resumeCommand } from "./commands/resume/tree.ts";
import { runCommand } from "./commands/run/tree.ts";
import { runUntilIdleCommand } from "./commands/run-until-idle/tree.ts";
import { slingCommand } from "./commands/sling/tree.ts";
import { snapshotsCommand } from "./commands/snapshots/tree.ts";
import { specCommand } from "./commands/spec/tree.ts";
import { statusCommand } from "./commands/status/tree.ts";
import { stopCommand } from "./commands/stop/tree.ts";
import { supervisorCommand } from "./commands/supervisor/tree.ts";
import { taskCommand } from "./commands/task/tree.ts";
import { trustCommand } from "./commands/trust/tree.ts";
import { updateCommand } from "./commands/update/tree.ts";
import { watchCommand } from "./commands/watch/tree.ts";
import { worktreeCommand } from "./commands/worktree/tree.ts";
import { completionsCommand } from "./completions/command.ts";

/** The whole command line, as data. */
export const tree: Command = {
  name: "ov",
  summary: "Turns one coding session into a team of AI coding agents working on one git repository",
  commands: [
    initCommand,
    goCommand,
    coordinatorCommand,
    orchestratorCommand,
    discoverCommand,
    inboxCommand,
    decideCommand,
    supervisorCommand,
    slingCommand,
    stopCommand,
    pauseCommand,
    resumeCommand,
    attachCommand,
    recoverCommand,
    releaseCommand,
    nudgeCommand,
    doneCommand,
    adviseCommand,
    taskCommand,
    specCommand,
    groupCommand,
    mailCommand,
    mergeCommand,
    gateCommand,
    runCommand,
    statusCommand,
    watchCommand,
    agentsCommand,
    budgetCommand,
    primeCommand,
    promptCommand(() => tree),
    logsCommand,
    diffCommand,
    logCommand,
    hookCommand,
    hooksCommand,
    updateCommand,
    configCommand,
    trustCommand,
    worktreeCommand,
    snapshotsCommand,
    cleanCommand,
    mergeFileCommand,
    mcpCommand,
    engineCommand,
    runUntilIdleCommand,
    { ...completionsCommand(() => tree), group: "Setup" },
    demoCommand,
    completeCommand,
  ],
};
