import { isNestedAgent } from "./nested-agents.ts";
import { leavesMachine } from "./publishing.ts";
import type { Invocation } from "./shell/invocations.ts";
import {
  clusteredValues,
  hasOption,
  literal,
  operands,
  operandsBeside,
  type ShellWord,
  valuesOf,
} from "./shell/syntax.ts";
import { type Denial, deny } from "./tool-use.ts";

/**
 * Commands that concern more than a project: they send data off this machine, or change what all of it depends on. No
 * agent may run them.
 */
export function checkMachine({ name, program, args }: Invocation, all: readonly Invocation[]): Denial | undefined {
  if (namesOf(name, program).some((each) => leavesMachine(each, args))) {
    return deny("publish", "what leaves this machine is the operator's to send; report that it is ready");
  }
  if (ofAll(name, args) || installsForAll(name, args) || (name === "kill" && endsFound(args, all))) {
    return deny("machine", `${name} as it stands here concerns the whole machine; leave that to the operator`);
  }
  return undefined;
}

/**
 * A program that comes as a package may be called by the name of that: with its version, as `<name>-cli` or `@<name>/cli`.
 * Others are called `<name>-cli` and come as `@<name>/cli`.
 */
function namesOf(name: string, program: string): readonly string[] {
  const plain = name.replace(/(?<=.)@.*$/, "");
  const owner = /^@([\w-]+)\/cli(?:@.*)?$/.exec(program)?.[1];
  return [plain, plain.replace(/-cli$/, ""), ...(owner === undefined ? [] : [owner, `${owner}-cli`])];
}

/** Does it install programs for every user of this machine, or change where programs come from? */
function installsForAll(name: string, args: readonly ShellWord[]): boolean {
  const [module, ...rest] = args;
  if (/^python[\d.]*$/.test(name)) {
    return module?.text === "-m" && /^(pip|pipx)$/.test(rest[0]?.text ?? "")
      ? installsForAll(rest[0]?.text ?? "", rest.slice(1))
      : false;
  }
  const [verb = "", next = ""] = operands(args).map(({ text }) => text);
  switch (name) {
    case "npm":
    case "pnpm":
    case "yarn":
    case "bun":
      if (/^(link|ln|unlink|set|global|setup)$/.test(verb)) return true;
      if (/^(config|c)$/.test(verb)) return /^(set|delete|rm|edit|fix)$/.test(next);
      return installVerb.test(verb) && (hasOption(args, "g", "global") || args.some(isGlobalPlace));
    case "pip":
    case "pip3":
      if (verb === "config") return /^(set|unset|edit)$/.test(next);
      return verb === "install" && hasOption(args, "", "user");
    case "cargo":
      return verb === "install" && valuesOf(args, "--root").length === 0;
    case "rustup":
      return /^(default|self|toolchain|update|set|uninstall)$/.test(verb) && !/^list$/.test(next);
    case "uv":
      return verb === "tool" && /^(install|upgrade|uninstall)$/.test(next);
    case "go":
      return verb === "install" || (verb === "env" && hasOption(args, "wu"));
    case "pipx":
    case "brew":
    case "snap":
    case "flatpak":
    case "port":
      return installVerb.test(verb) || /^(tap|link|unlink|services|reinstall|refresh|purge|cleanup)$/.test(verb);
    case "apt":
    case "apt-get":
    case "aptitude":
    case "dnf":
    case "yum":
    case "zypper":
    case "apk":
      return args.some(({ text }) => systemInstalls.test(text)) && !hasOption(args, "s", "simulate", "dry-run");
    case "pacman":
      return args.some(({ text }) => /^-[SRU]/.test(text) && !/^-S[si]/.test(text));
    case "dpkg":
    case "rpm":
      return hasOption(args, "irPUeF", "install", "remove", "purge", "upgrade", "erase", "unpack", "configure");
    case "nix-env":
      return hasOption(args, "ieuG", "install", "uninstall", "upgrade");
    case "update-alternatives":
      return hasOption(args, "", "install", "set", "remove");
    case "gem":
      return verb === "install" && !hasOption(args, "i", "install-dir");
    default:
      return false;
  }
}

const installVerb = /^(i|in|ins|install|add|a|ci|up|update|upgrade|un|uninstall|r|rm|remove)$/;
const systemInstalls =
  /^(install|remove|purge|upgrade|full-upgrade|dist-upgrade|update|autoremove|add|del|fix|localinstall|reinstall|erase)$/;
const isGlobalPlace = ({ text }: ShellWord, at: number, args: readonly ShellWord[]): boolean =>
  text === "--location=global" || (text === "global" && args[at - 1]?.text === "--location");

/** Programs whose every use changes the system. */
const always: readonly string[] =
  `gosu su-exec wipefs blkdiscard umount shutdown reboot halt poweroff useradd userdel usermod groupadd groupdel passwd
  chpasswd chsh chfn visudo sudo sudoedit doas su runuser pkexec iptables ip6tables nft swapon swapoff insmod rmmod modprobe fdisk parted losetup telinit skill snice
  scalar xdg-open gcore xkill newgrp killall5 slay`.split(/\s+/);

function ofAll(name: string, args: readonly ShellWord[]): boolean {
  if (args.length === 1 && /^(--(version|help)|-V)$/.test(args[0]?.text ?? "")) return false;
  const words = operands(args).map(({ text }) => text);
  switch (name) {
    case "mount":
      return words.length > 0;
    case "systemctl":
      return !/^(status|show|cat|is-\w+|list-\w[\w-]*|help|)$/.test(words[0] ?? "");
    case "service":
      return words.length > 0 && words[1] !== "status" && !hasOption(args, "", "status-all");
    case "sysctl":
      return hasOption(args, "wp", "write", "load") || words.some((word) => word.includes("="));
    case "launchctl":
      return !/^(list|print.*|help|version|)$/.test(words[0] ?? "");
    case "hostnamectl":
    case "timedatectl":
    case "localectl":
    case "loginctl":
      return /^(set-|enable-|kill-|terminate-|lock-)/.test(words[0] ?? "");
    case "machinectl":
      return !/^(list\w*|status|show|image-status|show-image|)$/.test(words[0] ?? "");
    case "setpriv":
      return args.some(({ text }) => /^--(re|r|e)?[ug]id|^--(init-|clear-|keep-)?groups/.test(text));
    case "prlimit":
      return hasOption(args, "p", "pid");
    case "busctl":
    case "gdbus":
      return /^(call|emit|set-property)$/.test(words[0] ?? "");
    case "tmux":
      return /^kill-serv/.test(words[0] ?? "");
    case "gdb":
    case "lldb":
    case "strace":
    case "ltrace":
      // The memory of a process of another agent is private. A process that the line itself started is named by a variable.
      return [...valuesOf(args, "-p", "--pid", "-pid", "--attach-pid"), ...clusteredValues(args, "p")].some(
        ({ text }) => /^(\d+|\$\{?PPID\}?)$/.test(text),
      );
    case "code":
    case "codium":
      return hasOption(args, "", "install-extension", "uninstall-extension");
    case "docker":
    case "podman":
    case "nerdctl":
      if (words[0] === "system" && words[1] === "reset") return true;
      if (endsContainers.test(words[0] ?? "") && args.some(({ dynamic }) => dynamic)) return true;
      return words.includes("prune") || args.some(({ text }) => /^--(privileged|pid=host|userns=host)$/.test(text));
    case "kill":
      // The process that started everything, all processes at once, or the program that the agent is.
      return (
        args.slice(1).some(({ text }) => text === "-1") ||
        words.some((word) => word === "1") ||
        args.some(({ text }) => /^-?\$\{?PPID\}?$/.test(text))
      );
    case "ulimit":
      // By the limit of file locks an agent is known.
      return words.length > 0 && hasOption(args, "xw");
    case "ssh-add":
      return !hasOption(args, "lL");
    case "ip":
      return words.some((word) => /^(add|append|change|replace|del|delete|set|flush)$/.test(word));
    case "fuser":
      return hasOption(args, "k", "kill");
    case "killall":
    case "pkill":
      if (valuesOf(args, "-P", "--parent").some(({ text }) => text === "1")) return true;
      return hasOption(args, "uU", "user", "euid") || operandsBeside(args, pkillValues).some(isEveryones);
    case "dbus-send":
    case "nsenter":
      return words.length > 0;
    default:
      return always.includes(name) || /^mkfs(\.|$)/.test(name);
  }
}

/** With a list of containers that another command prints, those of others are among them. */
const endsContainers = /^(rm|stop|kill|restart|pause|rmi|container|image|volume|network)$/;

/** Would it end the processes that another command of the line looks up by a name which others use, too? */
function endsFound(args: readonly ShellWord[], all: readonly Invocation[]): boolean {
  const isGiven = args.some(({ dynamic }) => dynamic) || all.some(({ name }) => name === "xargs");
  if (!isGiven) return false;
  const takesNumbers = all.some(({ name }) => /^([gmn]?awk|cut)$/.test(name)) && all.some(({ name }) => name === "ps");
  const looks = takesNumbers ? /^(pgrep|pidof|[ef]?grep|rg)$/ : /^(pgrep|pidof)$/;
  const sought = all.flatMap((each) => {
    if (looks.test(each.name)) return operandsBeside(each.args, pkillValues);
    // A pattern of awk picks lines, as grep does.
    return takesNumbers && /awk$/.test(each.name)
      ? each.args.flatMap(({ text }) => [...text.matchAll(/\/([^/]+)\//g)].map(([, found = ""]) => literal(found)))
      : [];
  });
  // A letter in brackets keeps the search from finding itself.
  return sought.some((word) => isEveryones({ ...word, text: word.text.replaceAll(/\[(\w)\]/g, "$1") }));
}

const pkillValues = ["-s", "-signal", "--signal", "-P", "--parent", "-g", "-G", "-t", "-F", "--pidfile"];

/**
 * The name of a program that others here run as well: of agents, of ov, of what all of them are made of, and of servers and
 * test runners, which every agent of a project starts alike. With a port or a file behind it, it is one of them.
 */
export const isEveryones = ({ text, dynamic }: ShellWord): boolean =>
  dynamic ||
  text === "" ||
  /^\^?(\/?[\w.-]+\/)*(ov|overstory|node|bun|deno|npm|python[\d.]*|java|ruby|git|ssh|sshd|tmux|screen|sh|bash|zsh|fish|dash|systemd|init|docker\w*|code|cursor|\.\*?|\*)\$?$/i.test(
    text,
  ) ||
  ofEveryProject.test(text) ||
  /^\^?(ov|overstory)\s/.test(text) ||
  isNestedAgent(text.replaceAll(/[\^$]/g, "").split(" ")[0] ?? "", []);

const ofEveryProject =
  /^\^?(npx|npm|pnpm|yarn|tsx|ts-node|nodemon|vite|vitest|jest|next(-server)?|nuxt|astro|remix|webpack|esbuild|turbo|tsc|tsserver|playwright|cypress|chrome|chromium|firefox|electron|pytest|uvicorn|gunicorn|flask|django|rails|puma|cargo|rustc|go|make|gradle|mvn|postgres|redis(-server)?|mysqld|mongod)(\s+(run\s+)?(dev|start|serve|watch|test|build|preview))?\$?$/i;
