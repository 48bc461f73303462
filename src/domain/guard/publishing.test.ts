import { expect, test } from "bun:test";
import { leavesMachine } from "./publishing.ts";
import { literal } from "./shell/syntax.ts";

const leaves = (command: string): boolean => {
  const [name = "", ...args] = command.split(" ");
  return leavesMachine(name, args.map(literal));
};

test.each([
  "npm publish",
  "yarn npm publish",
  "docker image push x",
  "docker buildx build --push .",
  "docker login",
  "cargo login",
  "kubectl delete ns prod",
  "helm upgrade x chart",
  "terraform apply",
  "aws s3 rm s3://b/x",
  "rsync -v a host:b",
  "mvn deploy",
  "gradle :lib:publish",
  "dotnet nuget push x",
])("%s leaves this machine", (command) => {
  expect(leaves(command)).toBe(true);
});

test.each([
  "npm publish --dry-run",
  "npm --version",
  "docker build .",
  "kubectl get pods",
  "kubectl",
  "terraform plan",
  "aws s3 ls",
  "rsync -v host:a b",
  "mvn install",
  "gradle publishToMavenLocal",
  "cp a host:b",
])("%s stays here", (command) => {
  expect(leaves(command)).toBe(false);
});
