import { absolute } from "../paths.ts";
import { lexical, type Place, together } from "./places.ts";
import { literal, type ShellGroup, type ShellWord } from "./syntax.ts";

/** The facts about the machine that tell whether a `cd` can fail. */
export interface StandingTerms {
  readonly home: string | undefined;
  /** Is there a directory now? Asked with absolute paths. */
  isDirectory(path: string): boolean;
  /** Read the text as if no command could fail: to tell what a `cd` that fails is to blame for. */
  readonly works?: boolean;
}

/**
 * Where a shell may stand while a text is read. Branches and loops leave it in several places. A `cd` that fails leaves it
 * where it was, and the line goes on there, unless what follows is run only after success.
 */
export class Standing {
  places: readonly Place[];
  /** Where it stands if the last command failed; undefined: in the same places. */
  #failed: readonly Place[] | undefined;
  /** The places where the shell stood at an `exit`, `return` or `break`. The skipped commands are read from there. */
  #left: readonly Place[] = [];
  /** Directories that the text makes. */
  readonly #made = new Set<string>();
  /** Something in the text may have taken directories away. */
  #removed = false;
  /** The shell ends at the first command that fails (`set -e`). */
  #stops = false;
  /** How many functions and loops it is in. */
  #calls = 0;
  #loops = 0;
  /** In how many processes of their own. */
  #processes = 0;
  readonly #terms: StandingTerms;

  constructor(cwd: Place, terms: StandingTerms) {
    this.places = [cwd];
    this.#terms = terms;
  }

  /** One step of a line. `after`: only if the step before it worked, or failed. */
  step(after: ShellGroup["after"], work: () => void): void {
    const worked = this.places;
    const failed = this.#failed ?? worked;
    const all = this.#failed === undefined || this.#terms.works === true ? worked : together(worked, failed);
    const from = after === undefined ? all : after === "worked" ? worked : failed;
    this.#failed = undefined;
    // Behind an `exit` nothing runs. It is read all the same, from where the shell stood.
    this.places = from.length > 0 ? from : all.length > 0 ? all : this.#left;
    work();
    if (after === "worked") this.#failed = together(failed, this.#failed ?? this.places);
    if (after === "failed") {
      this.#failed ??= this.places;
      this.places = together(worked, this.places);
    }
  }

  /** A process of its own: what it does to its place changes nothing outside. */
  apart(work: () => void): void {
    const before = { places: this.places, failed: this.#failed, stops: this.#stops };
    this.#failed = undefined;
    this.#processes++;
    work();
    this.#processes--;
    this.places = before.places;
    this.#failed = before.failed;
    this.#stops = before.stops;
  }

  /** One of these is done; the line may go on from wherever any of them leads. */
  oneOf(works: readonly (() => void)[]): void {
    const [only, ...more] = works;
    if (only === undefined) return;
    if (more.length === 0) {
      only();
      return;
    }
    const before = { places: this.places, failed: this.#failed };
    const after = works.map((work) => {
      this.places = before.places;
      this.#failed = before.failed;
      work();
      return { places: this.places, failed: this.#failed };
    });
    this.places = after.reduce<readonly Place[]>((all, { places }) => together(all, places), []);
    const isUnsure = after.some(({ failed }) => failed !== undefined);
    this.#failed = isUnsure
      ? after.reduce<readonly Place[]>((all, { places, failed }) => together(all, failed ?? places), [])
      : undefined;
  }

  /** The line may go on from all of these places, whether the commands worked or failed. */
  alsoFrom(places: readonly Place[]): void {
    const failed = this.#terms.works === true ? [] : (this.#failed ?? []);
    this.places = together(together(places, this.places), failed);
    this.#failed = undefined;
  }

  enter(directory: ShellWord): void {
    const before = this.places;
    this.places = together(
      [],
      before.map((place) => this.#led(directory, place)),
    );
    const stays = before.filter((place) => !this.#isThere(this.#led(directory, place)));
    this.#failed = together(this.places, stays).length === this.places.length ? undefined : stays;
  }

  #change(args: readonly ShellWord[]): void {
    const [directory] = args.filter(({ text }) => !/^-([LPen@]+|-)$/.test(text));
    this.enter(directory ?? { ...literal("~"), home: true });
  }

  /** To a place that cannot be told. */
  #goSomewhere(): void {
    this.#failed = this.places;
    this.places = [undefined];
  }

  #led(directory: ShellWord, place: Place): Place {
    const unknown = /^-$|^~[-+]|^[-+]\d+$/.test(directory.text);
    return unknown ? undefined : absolute(directory, place, this.#terms.home);
  }

  #isThere(place: Place): boolean {
    if (place === undefined || this.#removed) return false;
    return this.#made.has(plainly(place)) || this.#terms.isDirectory(place);
  }

  /** What a program does to directories and to the shell itself, as far as it matters for where the line goes on. */
  notice(name: string, args: readonly ShellWord[]): void {
    if (["cd", "pushd"].includes(name)) this.#change(args);
    if (name === "popd" || (name === "pushd" && args.length === 0)) this.#goSomewhere();
    if (mayRemove.includes(name)) this.#removed = true;
    if (name === "mkdir") for (const word of args) for (const place of this.places) this.#make(word, place);
    // With `-p`, a directory that exists is no failure.
    if (name === "mkdir" && args.some(({ text }) => text === "-p")) this.#failed = [];
    if (name === "set" && args.some(({ text }) => /^-\w*e\w*$|^errexit$/.test(text))) this.#stops = true;
    if (name === "set" && args.some(({ text, dynamic }) => dynamic || text.startsWith("+"))) this.#stops = false;
  }

  #make(word: ShellWord, place: Place): void {
    const path = word.pattern ? undefined : absolute(word, place, this.#terms.home);
    if (path !== undefined) this.#made.add(plainly(path));
  }

  /** `set -e`: the shell ends with a plain command that fails. */
  stopIfFailed(): void {
    if (this.#stops) this.#failed = undefined;
  }

  /** Does this program leave the shell, a function or a loop? Then the line goes on from here where that ends. */
  leaveBy(name: string, args: readonly ShellWord[]): void {
    if (!this.#leaves(name, args)) return;
    this.#left = together(this.#left, this.places);
    this.places = [];
  }

  /** With other words these do nothing but complain; outside of functions and loops most of them do the same. */
  #leaves(name: string, args: readonly ShellWord[]): boolean {
    if (args.length > 1 || !args.every(({ text }) => /^\d+$/.test(text))) return false;
    if (name === "exit") return true;
    return name === "return" ? this.#calls > 0 : ["break", "continue"].includes(name) && this.#loops > 0;
  }

  /** The body of a function. */
  call(work: () => void): void {
    const loops = this.#loops;
    this.#loops = 0;
    this.#calls++;
    this.#leavable(work);
    this.#calls--;
    this.#loops = loops;
  }

  /** One round of a loop. */
  round(work: () => void): void {
    this.#loops++;
    this.#leavable(work);
    this.#loops--;
  }

  /** It is in no function and in no process of its own. */
  get isOutermost(): boolean {
    return this.#calls === 0 && this.#processes === 0;
  }

  /** What a command can leave. Afterwards the line goes on from the places of that command, too. */
  #leavable(work: () => void): void {
    const before = this.#left;
    this.#left = [];
    work();
    this.alsoFrom(this.#left);
    this.#left = before;
  }

  /** At the end of the shell. */
  end(): void {
    this.alsoFrom(this.#left);
  }
}

/** The worktree, where git is asked for it in there. */
export function asPlace(word: ShellWord, worktree: string, places: readonly Place[]): ShellWord {
  const [whole, below = ""] = /^\$\(git rev-parse --show-toplevel\)(\/[^$`{}]*)?$/.exec(word.text) ?? [];
  if (whole === undefined || !word.dynamic) return word;
  const isWithin = places.every((place) => place !== undefined && `${lexical(place)}/`.startsWith(`${worktree}/`));
  return isWithin ? { text: `${worktree}${below}`, dynamic: false, home: false, pattern: word.pattern } : word;
}

const plainly = (path: string): string => path.replaceAll(/\/(?:\.?\/)+/g, "/").replace(/\/\.?$/, "");

/** Programs that take directories away, or the right to enter them. */
const mayRemove: readonly string[] = "rm rmdir mv unlink trash find chmod chown ln rsync git rename".split(" ");
