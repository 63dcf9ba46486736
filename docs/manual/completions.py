"""A tool's options, commands and values as completions for bash, zsh and fish."""
import re

from manual import reference


def brief(option):
    """The first sentence of what the option means, without its default."""
    text = reference.plain(option.meaning)
    text = re.split(r'(?<=[a-z0-9)])\. |(?<=\))\. ', text)[0].rstrip('.')
    return re.sub(r' \([^()]*\)$', '', re.sub(r', see [^,]*$', '', text))


def options_of(tool, command):
    """Those that the command takes; of no command: those of the tool itself."""
    if not tool.commands:
        return tool.options
    if command is None:
        return [option for option in tool.options if option.for_tool]
    return [option for option in tool.options
            if command in option.commands or not option.commands and
            option.long != '--version']


def words(options):
    return ' '.join(name for option in options for name in option.names)


# -- bash

def bash(tool):
    lines = ['# bash completion for %s, made by docs/make_man.' % tool.name,
             '_%s() {' % tool.name,
             '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}',
             '  COMPREPLY=()', '  case $before in']
    choices = {}  # of an option in all commands
    for option in tool.options:
        if option.choices:
            choices.setdefault('|'.join(option.names), []).extend(option.choices)
    for names, values in choices.items():
        lines.append('    %s) COMPREPLY=($(compgen -W "%s" -- "$word")); return ;;' %
                     (names, ' '.join(dict.fromkeys(values))))
    files = [name for option in tool.options if option.is_file for name in option.names]
    others = [name for option in tool.options
              if option.value and not option.is_file and '|'.join(option.names) not in choices and
              not option.value.startswith('[') for name in option.names]
    if files:
        lines += ['    %s) COMPREPLY=($(compgen -f -- "$word")); return ;;' % '|'.join(files)]
    if others:
        lines += ['    %s) return ;;' % '|'.join(others)]
    lines += ['  esac']
    if tool.commands:
        lines += ['  if [[ $COMP_CWORD -eq 1 ]]; then',
                  '    COMPREPLY=($(compgen -W "%s %s" -- "$word"))' % (
                      ' '.join(tool.commands), words(options_of(tool, None))),
                  '    return', '  fi', '  local options=', '  case ${COMP_WORDS[1]} in']
        lines += ['    %s) options="%s" ;;' % (name, words(options_of(tool, name)))
                  for name in tool.commands]
        lines += ['  esac']
    else:
        lines += ['  local options="%s"' % words(tool.options)]
    lines += ['  if [[ $word == -* ]]; then',
              '    COMPREPLY=($(compgen -W "$options" -- "$word"))', '  else',
              '    COMPREPLY=($(compgen -f -- "$word"))', '  fi', '}',
              'complete -o filenames -F _%s %s' % (tool.name, tool.name)]
    return '\n'.join(lines) + '\n'


# -- zsh

def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r'\\\1', text).replace("'", "'\\''")


def zsh_option(option):
    value = ''
    if option.choices:
        value = ':value:(%s)' % ' '.join(option.choices)
    elif option.is_file:
        value = ':file:_files'
    elif option.value:
        value = '%s%s: ' % ('::' if option.value.startswith('[') else ':',
                            option.value.strip('[]').lower())
    repeated = '*' if 'repeatable' in option.meaning else ''
    return ["    '%s%s[%s]%s' \\" % (repeated, name, zsh_text(brief(option)), value)
            for name in option.names]


def zsh(tool):
    lines = ['#compdef ' + tool.name, '# Made by docs/make_man.']
    if not tool.commands:
        lines += ['_arguments -S \\']
        for option in tool.options:
            lines += zsh_option(option)
        return '\n'.join(lines + ["    '*:file:_files'"]) + '\n'
    lines += ['if (( CURRENT == 2 )); then', '  local -a commands', '  commands=(']
    lines += ["    '%s:%s'" % (name, zsh_text(meaning)) for name, meaning in
              tool.commands.items()]
    lines += ['  )', '  _describe command commands', '  compadd -- ' +
              words(options_of(tool, None)), '  return', 'fi',
              'local command=$words[2]', 'shift words', '(( CURRENT -= 1 ))', 'case $command in']
    for name in tool.commands:
        lines += ['  %s) _arguments -S \\' % name]
        for option in options_of(tool, name):
            lines += zsh_option(option)
        lines += ["    '*:file:_files' ;;"]
    return '\n'.join(lines + ['esac']) + '\n'


# -- fish

def fish_text(text):
    return text.replace('\\', '\\\\').replace("'", "\\'")


def fish(tool):
    start = 'complete -c ' + tool.name
    lines = ['# fish completion for %s, made by docs/make_man.' % tool.name]
    for name, meaning in tool.commands.items():
        lines.append("%s -n __fish_use_subcommand -a %s -d '%s'" % (
            start, name, fish_text(meaning)))
    for option in tool.options:
        line = start
        if tool.commands:
            takes = [name for name in tool.commands if option in options_of(tool, name)]
            conditions = (['__fish_use_subcommand'] if option.for_tool else []) + (
                ['__fish_seen_subcommand_from ' + ' '.join(takes)] if takes else [])
            line += " -n '%s'" % '; or '.join(conditions)
        for name in option.names:
            line += (' -l ' if name.startswith('--') else ' -s ') + name.lstrip('-')
        if option.choices:
            line += " -x -a '%s'" % ' '.join(option.choices)
        elif option.is_file:
            line += ' -r -F'
        elif option.value and not option.value.startswith('['):
            line += ' -x'
        lines.append("%s -d '%s'" % (line, fish_text(brief(option))))
    return '\n'.join(lines) + '\n'
