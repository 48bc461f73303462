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
    case "printf":
      return formatted(args);
    default:
      return unknownWord;
  }
}

/** What `printf` prints: its values in the places of the format, which begins again until none is left. */
function formatted([format, ...values]: readonly ShellWord[]): ShellWord {
  const text = format?.text ?? "";
  const places = text.match(/%[sb]/g)?.length ?? 0;
  if (text.replaceAll(/%[sb]|%%/g, "").includes("%")) return unknownWord;
  if (places === 0) return joined(format === undefined ? [] : [format, ...values], "\n");
  const isDynamic = [format, ...values].some((word) => word?.dynamic === true);
  let printed = "";
  for (let at = 0; at < Math.max(values.length, 1); at += places) {
    let next = at;
    printed += text.replaceAll(/%[sb]|%%/g, (sign) => (sign === "%%" ? "%" : (values[next++]?.text ?? "")));
  }
  return { ...literal(printed.replaceAll("\\n", "\n")), dynamic: isDynamic };
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
