import { expect, test } from "bun:test";
import { matchesGlob } from "../text/glob.ts";
import { namedByCommand } from "./named-by-command.ts";

const names = (command: string, path: string): boolean =>
  namedByCommand(command).paths.some((each) => each === path || (/[*?[{]/.test(each) && matchesGlob(path, each)));

test.each([
  ["find checks -name '*.sh' -exec sh {} \\;", "checks/a.sh"],
  ["find checks -name '*.sh' -exec sh {} \\;", "checks/deep/a.sh"],
  ["find checks -type f -exec sh {} +", "checks/a"],
  ["find -name gate.sh -exec sh {} \\;", "deep/gate.sh"],
  ["find . -name gate.sh -exec bash -e {} ';'", "gate.sh"],
  ["find checks lib -iname '*.sh' -exec sh {} \\;", "lib/a.sh"],
  ["find checks -executable -exec '{}' ';'", "checks/a"],
  ["find checks -type f -exec {} \\;", "checks/a"],
  ["find checks -name '*.sh' -execdir timeout 9 sh {} \\;", "checks/a.sh"],
  ["find ./checks/ -name '*.sh' -exec bash -c 'sh \"$1\"' _ {} \\;", "checks/a.sh"],
  ["find checks -name '*.sh' -exec sh -c '\"$0\"' {} \\;", "checks/a.sh"],
  ["find tests -name 'test_*.py' -exec python3 {} \\;", "tests/test_a.py"],
  ["(cd checks; find . -name '*.sh' -exec sh {} \\;)", "checks/a.sh"],
  ["cd web && find checks | xargs sh", "web/checks/a"],
  ["find checks -name '*.sh' -print0 | xargs -0 -n 1 sh", "checks/a.sh"],
  ["find checks -name '*.sh' | sort | while read f; do sh \"$f\" || exit 1; done", "checks/a.sh"],
  ["while read f; do sh $f; done < <(find checks -name '*.sh')", "checks/a.sh"],
  ["for f in $(find checks -name '*.sh'); do sh $f; done", "checks/a.sh"],
  ["for f in $(find checks -name '*.sh'); do $f; done", "checks/a.sh"],
  ["for f in `ls checks`; do sh checks/$f; done", "checks/a"],
  ["F=$(find checks -name '*.sh'); for f in $F; do sh $f; done", "checks/a.sh"],
  ["sh -c \"$(find checks -name '*.sh' -exec cat {} +)\"", "checks/a.sh"],
  ["find checks -name '*.sh' -exec cat {} + | sh", "checks/a.sh"],
  ["find checks -name '*.sh' | xargs cat | sh", "checks/a.sh"],
  ["bash <(find checks -name '*.sh' -exec cat {} +)", "checks/a.sh"],
  ["mapfile -t F < <(ls checks); for f in $F; do sh checks/$f; done", "checks/a.sh"],
  ["ls checks | xargs -I{} sh checks/{}", "checks/a.sh"],
  ["grep -rl gate checks | xargs sh", "checks/deep/a.sh"],
  ["rg -l . checks | xargs -n1 bash", "checks/a.sh"],
  ["git ls-files checks | xargs -n1 sh", "checks/deep/a.sh"],
  ["fd -e sh . checks -x sh", "checks/a.sh"],
  ["run-parts checks", "checks/10-first"],
  ["cat check.sh > >(sh)", "check.sh"],
  ["grep -v '^#' check.sh > >(bash -e)", "check.sh"],
  ["cat check.sh | tee >(sh) > log", "check.sh"],
])("%p runs %p", (command, path) => {
  expect(names(command, path)).toBe(true);
});

test.each([
  ["find src -name '*.ts' -exec grep -l bad {} +", "src/a.ts"],
  ["find src -name '*.js' | xargs eslint", "src/a.js"],
  ["find src -name '*.js' | xargs eslint && node build.js", "src/a.js"],
  ["find src -name '*.js' | xargs eslint; for f in ci; do sh $f; done", "src/a.js"],
  ["find checks -name '*.sh' -exec shellcheck {} +", "checks/a.sh"],
  ["find checks -name '*.sh' -exec bash -n {} \\;", "checks/a.sh"],
  ["find src -name '*.py' -exec python3 -m py_compile {} +", "src/a.py"],
  ["find src -name '*.py' | xargs python3 tools/lint.py", "src/a.py"],
  ["find src -name '*.js' -exec node --check {} \\;", "src/a.js"],
  ["find src -name '*.js' -exec sh -c 'eslint \"$1\"' _ {} \\;", "src/a.js"],
  ["find test -name '*.test.js' | xargs node --test", "test/a.test.js"],
  ["pytest $(find tests -name 'test_*.py')", "tests/test_a.py"],
  ["find src -name '*.ts' -exec wc -l {} \\;", "src/a.ts"],
  ["test -z \"$(find src -name '*.orig')\"", "src/a.orig"],
  ["test $(find src -name '*.ts' | wc -l) -gt 3 && npm test", "src/a.ts"],
  ["ls src", "src/a.ts"],
  ["! grep -rl TODO src", "src/a.ts"],
  ["find checks -name '*.sh' -exec sh {} \\;", "src/a.ts"],
])("%p leaves %p to ordinary work", (command, path) => {
  expect(names(command, path)).toBe(false);
});
