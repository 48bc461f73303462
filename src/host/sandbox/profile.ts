import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import { credentialPlaces } from "../../domain/guard/secrets.ts";
import { ifThere, lstatIfThere } from "../file-access.ts";

/** One thing that a confined program sees at a path. Later ones lie over earlier ones. */
export type Mount =
  /** An empty directory in memory, for this program alone. */
  | { readonly kind: "empty"; readonly at: string }
  /** An empty file. */
  | { readonly kind: "nothing"; readonly at: string }
  | { readonly kind: "read" | "write"; readonly at: string; readonly from?: string }
  | { readonly kind: "link"; readonly at: string; readonly to: string };

/** The options of bubblewrap for these mounts. */
export const mountWords = (mounts: readonly Mount[]): readonly string[] => mounts.flatMap(wordsOf);

function wordsOf(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case "empty":
      return ["--tmpfs", mount.at];
    case "nothing":
      return ["--ro-bind", "/dev/null", mount.at];
    case "read":
      return ["--ro-bind-try", mount.from ?? mount.at, mount.at];
    case "write":
      return ["--bind", mount.from ?? mount.at, mount.at];
    case "link":
      return ["--symlink", mount.to, mount.at];
  }
}

/**
 * Directories for temporary files, sockets and process files of all users. Sockets there lead to programs of the user.
 */
export const sharedPlaces = ["/tmp", "/var/tmp", "/run"] as const;

/** What programs need of `/run`: how names are looked up, and on some systems every program. */
const neededOfRun = [
  "/run/systemd/resolve",
  "/run/resolvconf",
  "/run/NetworkManager/resolv.conf",
  "/run/current-system",
];

/** The system's files, without the places that programs share. */
export const systemMounts = (): readonly Mount[] => [
  ...sharedPlaces.filter(isRealDirectory).map((at): Mount => ({ kind: "empty", at })),
  ...neededOfRun.filter(isThere).map((at): Mount => ({ kind: "read", at })),
];

/** Is this path the place itself, or below it? */
export const isIn = (path: string, place: string): boolean =>
  path === place || path.startsWith(place === "/" ? place : `${place}/`);

/** Paths of the system that a confined program would not see: they lie below a shared place. */
export const hiddenBySystem = (path: string): boolean =>
  sharedPlaces.some((place) => path !== place && isIn(path, place));

export interface HomeTerms {
  readonly home: string;
  /** Directories below the home that are the program's own, with where each of them really is. */
  readonly own: readonly { readonly path: string; readonly from: string }[];
  /** Directories below the home that belong to other programs with a login of their own. */
  readonly hidden: readonly string[];
}

/**
 * A home with the same content for reading. New files go to memory, so that programs can write where they are used to, and
 * nothing of it stays. A link stays a link: what it leads to is seen or hidden by its own path.
 */
export function homeMounts({ home, own, hidden }: HomeTerms): readonly Mount[] {
  if (home === "/" || !isRealDirectory(home)) return [];
  const special = [...hidden, ...own.map(({ path }) => path)];
  const inside = (dir: string): readonly Mount[] =>
    namesIn(dir).flatMap((name): readonly Mount[] => {
      const at = join(dir, name);
      const path = relative(home, at);
      if (special.includes(path)) return [];
      const stat = lstatIfThere(at);
      if (stat?.isSymbolicLink()) return [{ kind: "link", at, to: readlinkSync(at) }];
      if (stat?.isFile()) return [{ kind: "read", at }];
      if (!stat?.isDirectory()) return [];
      // A mount needs a place to be made at, which a directory for reading does not give.
      const isOnTheWay = special.some((other) => other.startsWith(`${path}/`));
      return isOnTheWay ? [{ kind: "empty", at }, ...inside(at)] : [{ kind: "read", at }];
    });
  return [
    { kind: "empty", at: home },
    ...inside(home),
    ...own.map(({ path, from }): Mount => ({ kind: "write", at: join(home, path), from })),
  ];
}

function namesIn(dir: string): readonly string[] {
  return ifThere(() => readdirSync(dir)) ?? [];
}

/** The same of the machine, which root could read. */
const systemSecrets = [
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/etc/gshadow-",
  "/etc/ssl/private",
  "/etc/docker/key.json",
];

export interface CredentialTerms {
  readonly homes: readonly string[];
  /** Shells of agents, whose variables may move the directories `.config` and `.local/share`. */
  readonly shells: readonly Readonly<Record<string, string>>[];
  /** Paths that are not hidden. */
  readonly shown: readonly string[];
}

/** Hides the credentials of homes and of the machine, by the paths where they really are. */
export function hiddenCredentials({ homes, shells, shown }: CredentialTerms): readonly Mount[] {
  const bases = shells.flatMap(({ XDG_CONFIG_HOME, XDG_DATA_HOME }) => [
    { usual: ".config/", at: XDG_CONFIG_HOME },
    { usual: ".local/share/", at: XDG_DATA_HOME },
  ]);
  const moved = bases.flatMap(({ usual, at }) =>
    at === undefined || !isAbsolute(at)
      ? []
      : credentialPlaces.filter((name) => name.startsWith(usual)).map((name) => join(at, name.slice(usual.length))),
  );
  const usual = homes.flatMap((home) => credentialPlaces.map((name) => join(home, name)));
  const places = [...usual, ...moved, ...systemSecrets];
  const real = places.flatMap((place) => ifThere(() => realpathSync(place)) ?? []);
  return [...new Set(real)]
    .filter((place) => !shown.some((path) => isIn(place, path)))
    .flatMap((at): readonly Mount[] => {
      const stat = lstatIfThere(at);
      if (stat?.isDirectory()) return [{ kind: "empty", at }];
      return stat?.isFile() ? [{ kind: "nothing", at }] : [];
    });
}

/**
 * Hides sockets that programs of the machine listen on now. To connect to one needs no right to write, so a mount for reading
 * does not help, and behind some of them a daemon does whatever it is asked. `seen`: directories that are shown wherever they lie.
 */
export function hiddenSockets(seen: readonly string[], isLeftOut: (path: string) => boolean): readonly Mount[] {
  const lines = (ifThere(() => readFileSync("/proc/net/unix", "utf8")) ?? "").split("\n");
  const paths = lines.flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? []);
  return [...new Set(paths)]
    .filter((path) => seen.some((dir) => isIn(path, dir)) || !(hiddenBySystem(path) || isIn(path, "/dev")))
    .filter((path) => !isLeftOut(path) && isSocket(path))
    .map((at): Mount => ({ kind: "nothing", at }));
}

function isSocket(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;
  } catch {
    // We may not even look there, and neither may an agent.
    return false;
  }
}

/**
 * Lets a program read, but not replace, a file in a directory that it may write to. Every directory on the way is a mount of
 * its own: a directory that is none could be renamed, and another one put in its place.
 */
export function pinned(base: string, file: string): readonly Mount[] {
  const way: string[] = [];
  for (let dir = dirname(file); isIn(dir, base) && dir !== base; dir = dirname(dir)) way.unshift(dir);
  if (!isIn(file, base) || !way.every(isRealDirectory) || !isPlain(file)) return [];
  return [...way.map((at): Mount => ({ kind: "write", at })), { kind: "read", at: file }];
}

const isPlain = (path: string): boolean => {
  const stat = lstatIfThere(path);
  return stat?.isFile() === true || stat?.isDirectory() === true;
};

const isThere = (path: string): boolean => lstatIfThere(path) !== undefined;

const isRealDirectory = (path: string): boolean => ifThere(() => lstatSync(path))?.isDirectory() === true;
