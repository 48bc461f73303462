import { readingGh } from "./read-only-programs.ts";
import type { Invocation } from "./shell/invocations.ts";
import { hasOption, operands, type ShellWord, valuesOf } from "./shell/syntax.ts";
import { type Denial, deny } from "./tool-use.ts";

/** What concerns more than a project: what leaves this machine, and what all of it depends on. Nobody's to do. */
export function checkMachine({ name, args }: Invocation): Denial | undefined {
  if (leaves(name, args)) {
    return deny("publish", "what leaves this machine is the operator's to send; report that it is ready");
  }
  if (ofAll(name, args) || installsForAll(name, args)) {
    return deny("machine", `${name} as it stands here concerns the whole machine; leave that to the operator`);
  }
  return undefined;
}

function leaves(name: string, args: readonly ShellWord[]): boolean {
  const [verb] = operands(args);
  return (
    (["npm", "pnpm", "yarn", "bun", "cargo", "poetry", "uv"].includes(name) &&
      /^(un)?publish$|^(deprecate|dist-tag|owner|access|yank)$/.test(verb?.text ?? "")) ||
    (name === "sftp" && operands(args).length > 0) ||
    (["docker", "podman", "gem", "hub"].includes(name) && verb?.text === "push") ||
    (name === "twine" && verb?.text === "upload") ||
    (["scp", "rsync"].includes(name) && /^[\w.@-]+:/.test(operands(args).at(-1)?.text ?? "")) ||
    (["gh", "glab"].includes(name) && args.length > 0 && !readingGh(args))
  );
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
    case "pipx":
      return verb === "install";
    case "gem":
      return verb === "install" && !hasOption(args, "i", "install-dir");
    default:
      return false;
  }
}

const installVerb = /^(i|in|ins|install|add|a|ci|up|update|upgrade|un|uninstall|r|rm|remove)$/;
const isGlobalPlace = ({ text }: ShellWord, at: number, args: readonly ShellWord[]): boolean =>
  text === "--location=global" || (text === "global" && args[at - 1]?.text === "--location");

/** Programs whose every use changes the system. */
const always: readonly string[] = `umount shutdown reboot halt poweroff useradd userdel usermod groupadd groupdel passwd
  chpasswd visudo iptables ip6tables nft swapon swapoff insmod rmmod modprobe fdisk parted losetup telinit`.split(
  /\s+/,
);

function ofAll(name: string, args: readonly ShellWord[]): boolean {
  if (args.length === 1 && /^--(version|help)$/.test(args[0]?.text ?? "")) return false;
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
    case "kill":
      // The process of whoever started everything, or all processes at once.
      return args.slice(1).some(({ text }) => text === "-1") || words.includes("1");
    case "killall":
    case "pkill":
      return hasOption(args, "uU", "user", "euid");
    default:
      return always.includes(name) || /^mkfs(\.|$)/.test(name);
  }
}
