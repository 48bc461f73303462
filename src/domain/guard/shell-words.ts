/** A word as the shell would pass it on, as far as it can be known without running anything. */
export interface Word {
  readonly text: string;
  /** A variable or a substitution is in it: its value is not known here. */
  readonly dynamic: boolean;
}

/**
 * The simple commands of a line of shell, those inside substitutions included, each as its words; quotes are folded
 * and redirections left out. Enough to see which programs are named, not a shell: keywords stay words.
 */
export function simpleCommands(line: string): readonly (readonly Word[])[] {
  return new Splitter(line).split();
}

const ends = ";&|()\n";
const blanks = " \t\r";

class Splitter {
  readonly #line: string;
  readonly #commands: Word[][] = [];
  #words: Word[] = [];
  #text = "";
  #dynamic = false;
  /** An empty pair of quotes is a word too. */
  #begun = false;
  /** The word that comes next is where a redirection leads. */
  #redirected = false;
  #hereDocuments: string[] = [];
  #at = 0;

  constructor(line: string) {
    this.#line = line;
  }

  split(): readonly (readonly Word[])[] {
    while (this.#at < this.#line.length) this.#step(this.#line[this.#at] ?? "");
    this.#endCommand();
    return this.#commands;
  }

  #step(next: string): void {
    if (blanks.includes(next)) this.#skip(() => this.#endWord());
    else if (next === "\n") this.#newLine();
    else if (next === ">" || this.#line.startsWith("&>", this.#at)) this.#redirection();
    else if (ends.includes(next)) this.#skip(() => this.#endCommand());
    else if (next === "#" && !this.#begun) this.#comment();
    else if (next === "\\") this.#escape();
    else if (next === "'") this.#singleQuoted();
    else if (next === '"') this.#doubleQuoted();
    else if (next === "$" || next === "`") this.#expansion();
    else if (next === "<") this.#input();
    else this.#skip(() => this.#add(next));
  }

  #input(): void {
    const isHereDocument = /^<<(?!<)/.test(this.#line.slice(this.#at, this.#at + 3));
    if (isHereDocument) this.#hereDocument();
    else this.#redirection();
  }

  /** With the number before it. What is in parentheses behind it is a command, not a place. */
  #redirection(): void {
    if (/^\d+$/.test(this.#text)) this.#begun = false;
    this.#endWord();
    const sign = /^&?[<>]+[&|]?/.exec(this.#line.slice(this.#at))?.[0] ?? "";
    this.#at += sign.length;
    this.#redirected = this.#line[this.#at] !== "(";
  }

  #skip(before: () => void): void {
    before();
    this.#at++;
  }

  #add(text: string): void {
    this.#begun = true;
    this.#text += text;
  }

  #endWord(): void {
    if (this.#begun && !this.#redirected) this.#words.push({ text: this.#text, dynamic: this.#dynamic });
    if (this.#begun) this.#redirected = false;
    this.#text = "";
    this.#dynamic = false;
    this.#begun = false;
  }

  #endCommand(): void {
    this.#endWord();
    if (this.#words.length > 0) this.#commands.push(this.#words);
    this.#words = [];
    this.#redirected = false;
  }

  #comment(): void {
    const end = this.#line.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#line.length : end;
  }

  #escape(): void {
    const escaped = this.#line[this.#at + 1] ?? "";
    if (escaped !== "\n") this.#add(escaped);
    this.#at += 2;
  }

  #singleQuoted(): void {
    const end = this.#line.indexOf("'", this.#at + 1);
    this.#add(this.#line.slice(this.#at + 1, end < 0 ? undefined : end));
    this.#at = end < 0 ? this.#line.length : end + 1;
  }

  #doubleQuoted(): void {
    this.#add("");
    this.#at++;
    for (;;) {
      const next = this.#line[this.#at];
      if (next === undefined || next === '"') break;
      if (next === "$" || next === "`") this.#expansion();
      else if (next === "\\") this.#escape();
      else {
        this.#add(next);
        this.#at++;
      }
    }
    this.#at++;
  }

  /** What is substituted is a line of its own; what comes out of it is anybody's guess. */
  #expansion(): void {
    const inner = this.#substitution();
    if (inner === undefined) {
      const plain = /^\$(?:\w+|\{[^}]*\}|[@*#?$!-])/.exec(this.#line.slice(this.#at))?.[0];
      this.#add(plain === undefined ? (this.#line[this.#at] ?? "") : "");
      if (plain !== undefined) this.#dynamic = true;
      this.#at += plain?.length ?? 1;
      return;
    }
    this.#add("");
    this.#dynamic = true;
    for (const command of simpleCommands(inner)) this.#commands.push([...command]);
  }

  #substitution(): string | undefined {
    const start = this.#at;
    if (this.#line[start] === "`") {
      const end = this.#line.indexOf("`", start + 1);
      this.#at = end < 0 ? this.#line.length : end + 1;
      return this.#line.slice(start + 1, end < 0 ? undefined : end);
    }
    if (this.#line[start + 1] !== "(") return undefined;
    let depth = 0;
    for (this.#at = start + 1; this.#at < this.#line.length; this.#at++) {
      const next = this.#line[this.#at];
      if (next === "(") depth++;
      if (next === ")" && --depth === 0) break;
    }
    return this.#line.slice(start + 2, this.#at++);
  }

  #hereDocument(): void {
    const found = /^<<-?[ \t]*(?:'([^']*)'|"([^"]*)"|([\w.-]+))/.exec(this.#line.slice(this.#at));
    this.#endWord();
    this.#at += found?.[0].length ?? 2;
    const mark = found?.[1] ?? found?.[2] ?? found?.[3];
    if (mark !== undefined) this.#hereDocuments.push(mark);
  }

  /** The text of here-documents is input, not commands. */
  #newLine(): void {
    this.#endCommand();
    this.#at++;
    for (const mark of this.#hereDocuments.splice(0)) {
      for (;;) {
        const end = this.#line.indexOf("\n", this.#at);
        const text = this.#line.slice(this.#at, end < 0 ? undefined : end);
        this.#at = end < 0 ? this.#line.length : end + 1;
        if (text.trim() === mark || this.#at >= this.#line.length) break;
      }
    }
  }
}
