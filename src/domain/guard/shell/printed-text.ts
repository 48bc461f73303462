import { literal, type ShellCommand, type ShellWord, unknownWord } from "./syntax.ts";

/** What a pipe prints, as far as that stands in its words. A file that it prints is not looked into, as no file is. */
export function printedBy(pipe: readonly ShellCommand[]): ShellWord {
  const [first, ...more] = pipe;
  if (first === undefined || !more.every(handsOn)) return unknownWord;
  const [program, ...args] = first.words;
  switch (program?.text) {
    case "cat":
      return first.input ?? (args.some(({ text }) => text.startsWith("<(")) ? unknownWord : literal(""));
    case "echo":
      return joined(
        args.filter(({ text }) => !/^-[neE]+$/.test(text)),
        " ",
      );
    case "printf": {
      const [format, ...values] = args;
      const onlyValues = /^(%s(\\n|\n)?)+$/.test(format?.text ?? "");
      if (onlyValues) return joined(values, "\n");
      return format?.text.includes("%") === true ? unknownWord : joined(args, "\n");
    }
    default:
      return unknownWord;
  }
}

const handsOn = ({ words: [program] }: ShellCommand): boolean => program?.text === "cat" || program?.text === "tee";

const joined = (words: readonly ShellWord[], by: string): ShellWord => ({
  ...literal(
    words
      .map(({ text }) => text)
      .join(by)
      .replaceAll("\\n", "\n"),
  ),
  dynamic: words.some(({ dynamic }) => dynamic),
});
