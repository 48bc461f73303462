import { isNestedAgent } from "./nested-agents.ts";
import { leavesMachine } from "./publishing.ts";
import type { Invocation } from "./shell/invocations.ts";
import { hasOption, operands, operandsBeside, type ShellWord, valuesOf } from "./shell/syntax.ts";
import { type Denial, deny } from "./tool-use.ts";

/** What concerns more than a project: what leaves this machine, and what all of it depends on. Nobody's to do. */
export function checkMachine({ name, args }: Invocation, all: readonly Invocation[]): Denial | undefined {
  if (leavesMachine(name, args)) {
    return deny("publish", "what leaves this machine is the operator's to send; report that it is ready");
  }
  if (ofAll(name, args) || installsForAll(name, args) || (name === "kill" && endsFound(args, all))) {
    return deny("machine", `${name} as it stands here concerns the whole machine; leave that to the operator`);
  }
  return undefined;
}

/** Does it install programs for everybody who works on this machine, or change where they come from? */
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
      return verb === "install" && hasOption(args, "", "user");
    case "cargo":
      return verb === "install" && valuesOf(args, "--root").length === 0;
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
const always: readonly string[] = `umount shutdown reboot halt poweroff useradd userdel usermod groupadd groupdel passwd
  chpasswd chsh chfn visudo sudo sudoedit doas su runuser pkexec iptables ip6tables nft swapon swapoff insmod rmmod modprobe fdisk parted losetup telinit`.split(
  /\s+/,
);

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
    case "busctl":
    case "gdbus":
      return /^(call|emit|set-property)$/.test(words[0] ?? "");
    case "tmux":
      return /^kill-serv/.test(words[0] ?? "");
    case "docker":
    case "podman":
      return words.includes("prune") || args.some(({ text }) => /^--(privileged|pid=host|userns=host)$/.test(text));
    case "kill":
      // The process that started everything, all processes at once, or the program that the agent is.
      return args.slice(1).some(({ text }) => text === "-1") || words.some((word) => /^(1|\$\{?PPID\}?)$/.test(word));
    case "killall":
    case "pkill":
      return hasOption(args, "uU", "user", "euid") || operandsBeside(args, pkillValues).some(isEveryones);
    case "dbus-send":
    case "nsenter":
      return words.length > 0;
    default:
      return always.includes(name) || /^mkfs(\.|$)/.test(name);
  }
}

/** Would it end the processes that another command of the line looks up by a name which others use, too? */
const endsFound = (args: readonly ShellWord[], all: readonly Invocation[]): boolean =>
  args.some(({ dynamic }) => dynamic) &&
  all.some((each) => /^(pgrep|pidof)$/.test(each.name) && operandsBeside(each.args, pkillValues).some(isEveryones));

const pkillValues = ["-s", "-signal", "--signal", "-P", "--parent", "-g", "-G", "-t", "-F", "--pidfile"];

/** The name of a program that others here run as well: of agents, of ov, and of what all of them are made of. */
export const isEveryones = ({ text, dynamic }: ShellWord): boolean =>
  dynamic ||
  /^\^?(\/?[\w.-]+\/)*(ov|overstory|node|bun|deno|npm|python[\d.]*|java|ruby|git|ssh|sshd|tmux|screen|sh|bash|zsh|fish|dash|systemd|init|docker\w*|code|cursor|\.\*?|\*)\$?$/i.test(
    text,
  ) ||
  isNestedAgent(text.replaceAll(/[\^$]/g, ""), []);
