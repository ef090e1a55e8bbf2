# Run by tollgate as the first program of namespaces of its own. Arguments: the tree,
# the prepared build folder (empty: none), the folder of the job, the folder that
# results go to. What the job's builds see:
#   /tmp/linux  the tree with the changes, not to be written to
#   /tmp/build  a copy of the prepared build folder, written to in memory
#   /tmp/out    what is handed back
set -eu
tree=$1 lower=$2 job=$3 result=$4
mount --make-rprivate /
stage=$job/stage
mkdir "$stage"
mount -t tmpfs -o "size=${TOLLGATE_DISK}m,mode=0755" tollgate "$stage"
cd "$stage"
mkdir linux build out tool tmp lower empty up up/bu up/bw up/none up/result
chmod 0700 up
# Another user each time, so that no build counts the processes of another's: of the
# prepared folder then only the owners change, and no file is copied.
extra=,metacopy=on
[ -n "$TOLLGATE_UID" ] || extra=,userxattr
mount --bind "$result" up/result
[ -n "$lower" ] || lower=$stage/up/none
# The changes lie over the tree as a layer of their own, in which a device 0:0 says that
# what lies below is gone: nothing of the tree is copied, whoever owns it.
mkdir up/change
cp -a "$job/change/." up/change/
hidden='for at do
	case $at in */*) mkdir -p "${at%/*}" ;; esac
	[ -e "$at" ] || mknod "$at" c 0 0
done'
mount --bind "$tree" lower
# What an earlier build in place has left would make Kbuild refuse this one.
(cd lower && for at in .config include/config include/generated arch/*/include/generated; do
	[ ! -e "$at" ] || printf '%s\0' "$at"
done) >up/left
(cd up/change && xargs -0 -r sh -c "$hidden" hidden <"$job/gone")
(cd up/change && xargs -0 -r sh -c "$hidden" hidden <../left)
mount -t overlay -o "lowerdir=up/change:lower${extra#,metacopy=on}" tollgate linux
umount lower
mount --bind "$lower" lower
mount -t overlay -o "lowerdir=lower,upperdir=up/bu,workdir=up/bw$extra" tollgate build
umount lower
[ ! -d linux/.git ] || mount --bind empty linux/.git
[ ! -f linux/.git ] || mount --bind /dev/null linux/.git
cp -a "$job/tool/." tool/
if [ -n "$TOLLGATE_UID" ]; then
	chown -hR "$TOLLGATE_UID:$TOLLGATE_UID" build out tmp
fi
mount --rbind "$stage" /tmp
# All else may only be read; below /proc the kernel decides, by the user. What cannot be
# reached here, in a folder of another user's or below another file system, the builds do not
# reach either.
cut -d ' ' -f 2 /proc/self/mounts | while read -r at; do
	case $at in
	/tmp | /tmp/* | /proc | /proc/* | "$stage" | "$stage"/*) ;;
	*)
		mount -o remount,bind,ro "$at" 2>/dev/null || mount --bind /tmp/empty "$at" 2>/dev/null || [ ! -e "$at" ] || {
			echo "tollgate: $at cannot be closed to writing" >&2
			exit 97
		}
		;;
	esac
done
user=
[ -z "$TOLLGATE_UID" ] || user="--reuid=$TOLLGATE_UID --regid=$TOLLGATE_UID --clear-groups"
# What all processes have for themselves (proc_pid_statm(5)), in pages: past the limit
# none goes on. This one is the namespace's first, which no signal of it reaches.
watched() {
	most=$((TOLLGATE_TOTAL * 1048576 / $(getconf PAGESIZE)))
	while sleep 0.2; do
		sum=0
		for p in /proc/[0-9]*/statm; do
			read -r _ all shared _ <"$p" || continue
			sum=$((sum + all - shared))
		done 2>/dev/null
		if [ "$sum" -gt "$most" ]; then
			echo "out of memory: its processes took more than $TOLLGATE_TOTAL MiB together" >>/tmp/up/result/died
			kill -KILL -1
		fi
	done
}
watched &
watcher=$!
cd /tmp/linux
status=0
# shellcheck disable=SC2086
setpriv $user --no-new-privs --bounding-set=-all --inh-caps=-all \
	prlimit "--nproc=$TOLLGATE_PROCESSES" "--as=$TOLLGATE_MEMORY" --core=0 \
	env -i PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C HOME=/tmp/tmp TMPDIR=/tmp/tmp \
	sh /tmp/tool/inner.sh </dev/null || status=$?
kill "$watcher" 2>/dev/null || :
if [ -f /tmp/up/result/died ]; then
	cat /tmp/up/result/died >&2
	exit 98
fi
# Only this program can write there; what it takes are plain files.
cd /tmp/out
if [ -n "${TOLLGATE_KEEP-}" ]; then
	cp -a /tmp/build /tmp/up/result/build
fi
find . -type d -exec mkdir -p /tmp/up/result/out/{} \;
find . -type f -exec cp --no-preserve=all {} /tmp/up/result/out/{} \;
echo "$status" >/tmp/up/result/status
