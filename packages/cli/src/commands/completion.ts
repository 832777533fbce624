// halyard completion: prints a script that lets a shell complete halyard commands.
import { Argument, Command } from "commander";
import { bashCompletion } from "../completion/bash.ts";
import { fishCompletion } from "../completion/fish.ts";
import { completedCommands } from "../completion/tree.ts";
import { zshCompletion } from "../completion/zsh.ts";
import { withExamples } from "../terminal/examples.ts";

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export const completionCommand = (): Command => {
  const command = new Command("completion")
    .description("print the script that lets your shell complete commands, options and flag keys")
    .addArgument(new Argument("<shell>", "your shell").choices(Object.keys(scripts)))
    .action((shell: keyof typeof scripts, _options: object, { parent }: Command) => {
      const commands = parent ? completedCommands(parent) : [];
      process.stdout.write(scripts[shell](commands));
    });
  return withExamples(
    command,
    `echo 'eval "$(halyard completion bash)"' >> ~/.bashrc`,
    "echo 'source <(halyard completion zsh)' >> ~/.zshrc   (after compinit)",
    "halyard completion fish > ~/.config/fish/completions/halyard.fish",
  );
};
